"""The processor and the versions that figures were made with: both move some of them.

`python -m auditeval.report.machine FOLDER` writes them beside tables that were made by hand.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

from auditeval.atomic import write_text

_PACKAGES = ("torch", "onnxruntime", "numpy", "scipy", "scikit-learn", "transformers")
# What decides which kernels run; onnxruntime's of 8 bits saturate where there is no VNNI.
_INSTRUCTION_SETS = {
    "avx2": "AVX2",
    "avx_vnni": "AVX-VNNI",
    "avx512_f": "AVX-512",
    "avx512_vnni": "AVX-512 VNNI",
    "amx_int8": "AMX",
}


def describe() -> str:
    """One sentence without date or place, so that one machine always says the same.

    Instruction sets are those that torch finds, from 2.9 on; before, only the best it makes use of.
    """
    import torch

    parts = [_processor(), f"{platform.system()} {platform.machine()}"]
    if torch.cuda.is_available():
        parts.insert(1, torch.cuda.get_device_name())
    versions = [f"{name} {version(name)}" for name in ("auditeval", *_PACKAGES)]
    return f"{', '.join(parts)}; Python {platform.python_version()}, {', '.join(versions)}."


def write(folder: Path) -> Path:
    """machine.md in `folder`, which is made if need be; returns its path."""
    path = folder / "machine.md"
    write_text(path, f"# Made on\n\n{describe()}\n")
    return path


def _processor() -> str:
    import torch

    if not hasattr(torch.cpu, "get_capabilities"):
        name = platform.processor() or "unknown processor"
        return f"{name} ({torch.backends.cpu.get_cpu_capability()})"
    found = torch.cpu.get_capabilities()
    sets = [name for key, name in _INSTRUCTION_SETS.items() if found.get(key)]
    name = found.get("cpu_name") or platform.processor() or "unknown processor"
    return f"{name} ({', '.join(sets)})" if sets else name


if __name__ == "__main__":
    print(write(Path(sys.argv[1])).read_text(encoding="utf-8"), end="")

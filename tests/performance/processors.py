"""How far what models say on this machine is from what they said on another.

    python tests/performance/processors.py           # a table
    python tests/performance/processors.py --write   # this machine's become the reference

Beside the model stands the largest difference over all its outputs, and its share of the largest
output. `evaluator` is the one that ships, in points of its scale of 1 to 5.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import torch
from reference_outputs import FILE, OUTPUTS, difference

PACKAGES = "numpy", "torch", "onnxruntime", "ctranslate2", "librosa"


def main() -> None:
    able = torch.cpu.get_capabilities()
    sets = [name for name in ("avx2", "avx512_f", "avx_vnni", "avx512_vnni") if able.get(name)]
    print(able.get("cpu_name", platform.processor()), *sets)
    print(", ".join(f"{package} {version(package)}" for package in PACKAGES))
    if "--write" in sys.argv[1:]:
        np.savez_compressed(FILE, **{name: made() for name, made in OUTPUTS.items()})
        return
    print(f"{'':12} {'largest':>9} {'of largest output':>18}")
    for name in OUTPUTS:
        found = difference(name)
        print(f"{name:12} {found.largest:9.1e} {found.largest / found.of:18.1e}")


if __name__ == "__main__":
    main()

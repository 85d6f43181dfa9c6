"""What made the figures: checked against what the system says of its processor."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from pathlib import Path

import pytest
import torch

from auditeval.report import machine

CPUINFO = Path("/proc/cpuinfo")


@pytest.mark.skipif(not CPUINFO.exists(), reason="no /proc/cpuinfo to compare with")
def test_the_processor_and_its_instruction_sets_are_those_the_system_names() -> None:
    said = dict(re.findall(r"(?m)^(\w[\w ]*?)\s*: (.*)$", CPUINFO.read_text()))
    if "flags" not in said or not hasattr(torch.cpu, "get_capabilities"):
        pytest.skip("needs an x86 processor and a torch that tells what it finds")
    name, sets = re.match(r"(.*?) \(([^()]*)\), ", machine.describe()).groups()  # type: ignore[union-attr]
    assert name == said["model name"].strip()
    flags = {"AVX2": "avx2", "AVX-512": "avx512f", "AVX-512 VNNI": "avx512_vnni"}
    for told, flag in flags.items():
        assert (told in sets.split(", ")) == (flag in said["flags"].split()), told


def test_it_names_versions_and_no_date_or_place(tmp_path: Path) -> None:
    text = machine.write(tmp_path / "report").read_text()
    assert f"Python {platform.python_version()}, auditeval " in text
    for package in ("torch", "onnxruntime", "numpy"):
        assert f", {package} {version(package)}" in text
    assert platform.node() not in text
    assert not re.search(r"20\d\d|/", text)
    assert machine.write(tmp_path / "report").read_text() == text


def test_an_older_torch_tells_the_best_that_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert f"({torch.backends.cpu.get_cpu_capability()})" in machine.describe()

"""What made the figures: checked against what the system says of its processor."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path

import pytest
import torch

from auditeval.report import machine

CPUINFO = Path("/proc/cpuinfo")
# Of a processor's name: what stands in it whatever the model, and what a graphics unit begins with.
_DECORATION = re.compile(r"CPU|processor|[\w-]+-core|@|[\d.]+[KMG]Hz", re.IGNORECASE)
_GRAPHICS = {"apu", "soc", "with", "w/", "radeon"}


def words(name: str) -> set[str]:
    """What tells one processor from another; torch puts the maker first, so their order is free."""
    told = re.sub(r"\([^)]*\)", " ", name).split()  # (R), (TM), what a hypervisor adds
    kept = (word.lower() for word in told if not _DECORATION.fullmatch(word))
    return set(takewhile(lambda word: word not in _GRAPHICS, kept))


def maker(vendor_id: str) -> str:
    """GenuineIntel, AuthenticAMD: "intel", "amd"."""
    return re.sub("Genuine|Authentic", "", vendor_id).lower()


def described() -> tuple[str, list[str]]:
    """Name and instruction sets in the product's sentence."""
    name, sets = re.match(r"(.*?) \(([^()]*)\), ", machine.describe()).groups()  # type: ignore[union-attr]
    return name, sets.split(", ")


@pytest.mark.skipif(not CPUINFO.exists(), reason="no /proc/cpuinfo to compare with")
def test_the_processor_and_its_instruction_sets_are_those_the_system_names() -> None:
    said = dict(re.findall(r"(?m)^(\w[\w ]*?)\s*: (.*)$", CPUINFO.read_text()))
    if "flags" not in said or not hasattr(torch.cpu, "get_capabilities"):
        pytest.skip("needs an x86 processor and a torch that tells what it finds")
    name, sets = described()
    assert words(name) == words(said["model name"]) | {maker(said["vendor_id"])}
    flags = {"AVX2": "avx2", "AVX-512": "avx512f", "AVX-512 VNNI": "avx512_vnni"}
    for told, flag in flags.items():
        assert (told in sets) == (flag in said["flags"].split()), told


# The names that torch reads are cpuinfo's, shortened; these are out of its own tests
# (brand-string.cc), with the maker that it puts in front. The last two hide the model: virtual.
@pytest.mark.parametrize(
    ("model_name", "shortened"),
    [
        ("Intel(R) Xeon(R) Platinum 8180 CPU @ 2.50GHz", "Intel Xeon Platinum 8180"),
        ("Intel(R) Xeon(R) CPU E5-2697 v4 @ 2.30GHz", "Intel Xeon E5-2697 v4"),
        ("AMD Ryzen 7 1800X Eight-Core Processor         ", "AMD Ryzen 7 1800X"),
        ("AMD Ryzen 5 PRO 6650U with Radeon Graphics     ", "AMD Ryzen 5 PRO 6650U"),
        ("AMD Ryzen Threadripper 1950X 16-Core Processor ", "AMD Ryzen Threadripper 1950X"),
        ("Quad-Core AMD Opteron(tm) Processor 2347 HE", "AMD Opteron 2347 HE"),
        ("AMD EPYC", "AMD EPYC"),
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
    ],
)
def test_a_shortened_name_is_told_whole(
    model_name: str, shortened: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"cpu_name": shortened, "avx2": True}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: found, raising=False)
    name, sets = described()
    assert (name, sets) == (shortened, ["AVX2"])
    assert words(name) == words(model_name)


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

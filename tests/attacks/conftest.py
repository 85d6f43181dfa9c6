"""The table of all attacks, printed at the end of `pytest tests/attacks`; and an end to hangs."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from commands import Ended, Run
from hypothesis import settings
from outcomes import SECONDS, Hang, LostFile, WrongResult
from readers import lay_out

from auditeval.types import EditPair

# The same examples everywhere; what they find becomes a case of its own.
settings.register_profile("attacks", derandomize=True, database=None, deadline=None)
settings.load_profile("attacks")

_ROOM = Path(__file__).parent
_THROUGH = {Hang: "hang", WrongResult: "wrong result", LostFile: "lost file"}
_COLUMNS = ("withstood", "traceback", "hang", "wrong result", "lost file", "skipped")


@pytest.fixture(autouse=True)
def _no_hang(pytestconfig: pytest.Config) -> Iterator[None]:
    seconds = SECONDS * int(pytestconfig.getoption("--moments"))

    def stop(number: int, frame: FrameType | None) -> None:
        raise Hang(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module", autouse=True)
def _blank(request: pytest.FixtureRequest) -> None:
    """Plots are blank but where names are drawn."""
    if request.path.name != "test_attacks_names.py":
        request.getfixturevalue("blank_plots")


@pytest.fixture
def attacks(record_property: Any) -> Any:
    """Says how many attacks a test consists of, if not one."""
    return lambda count: record_property("attacks", count)


@pytest.fixture
def room(
    tmp_path: Path,
    good: list[EditPair],
    spectrum_checkpoint: Path,
    clip_list: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """All that the commands read, whole, where they run."""
    monkeypatch.chdir(tmp_path)
    return lay_out(tmp_path, good, spectrum_checkpoint, clip_list)


@pytest.fixture
def bench(tmp_path: Path, cli: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command with quiet backends, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "none.yaml").write_text("pitch: null\n")

    def run(name: str, *arguments: Any) -> Ended:
        backends = () if name == "salmon" else ("--backends", "none.yaml")
        return cli("bench", name, *arguments, *backends, "--workers", 0, "-o", "report")

    return run


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    report: pytest.TestReport = yield
    if _ROOM in item.path.parents:
        kind = item.path.stem.removeprefix("test_attacks_").replace("_", " ")
        ended = "withstood" if report.passed else "skipped" if report.skipped else "traceback"
        if report.failed and call.excinfo is not None:
            through = (
                name for cause, name in _THROUGH.items() if call.excinfo.errisinstance(cause)
            )
            # A check that fails without saying what got through is a result that nobody expected.
            plain = "wrong result" if call.excinfo.errisinstance(AssertionError) else "traceback"
            ended = next(through, plain)
        report.user_properties.append(("attack", f"{kind}: {ended}"))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """A row a kind of attack: how many were made, and how many got through in which way."""
    table: dict[str, Counter[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            properties = dict(getattr(report, "user_properties", ()))
            decisive = getattr(report, "when", "") == "call" or not getattr(report, "passed", True)
            if "attack" in properties and decisive:
                kind, ended = properties["attack"].split(": ")
                count = properties.get("attacks", 1)
                table.setdefault(kind, Counter())[ended] += count
    if not table:
        return
    terminalreporter.section("attacks")
    width = max(len("all kinds"), *map(len, table))
    table["all kinds"] = sum(table.values(), Counter())
    header = "".join(f"{name:>14}" for name in ("attacks", *_COLUMNS))
    terminalreporter.line(f"{'kind':<{width}}{header}")
    for kind in [*sorted(table.keys() - {"all kinds"}), "all kinds"]:
        found = table[kind]
        cells = (sum(found.values()), *(found[column] for column in _COLUMNS))
        terminalreporter.line(f"{kind:<{width}}" + "".join(f"{cell:>14}" for cell in cells))

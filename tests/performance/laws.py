"""What the evaluators that ship keep of the laws about processors, changes, voices and occasions.

The tests of these laws, with more trials than the suite has; each prints what it found.
`auditeval-offline-thorough` is asked where it alone hears; the same of `auditeval-offline` says
what is left without.

Run by hand: python tests/performance/laws.py
Needs ../shared/data beside the project, pyworld, fluidsynth and its soundfont, and 15 minutes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

from results import keep

TESTS = Path(__file__).parents[1]
OFFLINE, THOROUGH = "auditeval-offline", "auditeval-offline-thorough"
ASKED = (  # what of, whom, in how many trials
    ("processors", OFFLINE, 12),
    ("changes", OFFLINE, 12),
    ("voices", THOROUGH, 12),
    ("voices", OFFLINE, 12),
    ("occasions", THOROUGH, 24),
    ("occasions", OFFLINE, 24),
)


def told(laws: str, evaluator: str, trials: int) -> list[dict[str, str]]:
    """Runs one file of tests; a row for each law, in its order."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", f"--junitxml={report}"]
        command += ["-o", "junit_family=legacy", f"--evaluator={evaluator}", f"--trials={trials}"]
        subprocess.run([*command, TESTS / f"test_laws_of_{laws}.py"], check=False)
        properties = list(ElementTree.parse(report).iter("property"))
    if not properties:
        sys.exit(f"laws.py: the tests of {laws} told nothing")
    rows = []
    for one in properties:
        found, of, wanted = one.attrib["value"].split(" ", 2)
        row = {"law": f"{laws}: {one.attrib['name']}", "evaluator": evaluator, "found": found}
        rows.append({**row, "of": of, "wanted": wanted})
    return rows


if __name__ == "__main__":
    keep("laws", "Laws that evaluators keep", [row for asked in ASKED for row in told(*asked)])

"""A page of 100,000 scored pairs: to write, to open, to search.

Run by hand on an idle machine: python tests/performance/report_speed.py
It prints and keeps the seconds of writing, the size without sound, the seconds until something is
seen and until all rows are there, and of each keystroke in the search until its rows are drawn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from browser import DESK, chromium
from commands import write_rows
from results import keep

from auditeval import pages, scores_table
from auditeval.types import AXES, Scores

SOUNDS = ("rain", "a dog barking", "thunder", "a siren", "footsteps", "wind", "birds", "a crowd")
TYPED = "sys7 thunder 99"


def written(folder: Path, count: int) -> tuple[Path, Path]:
    """A scores table with intervals and its manifest with ratings, of 20 systems."""
    rng = np.random.default_rng(0)
    rated = np.clip(rng.normal(3.2, 0.9, (count, 3)), 1, 5)
    scored = np.clip(rated + rng.normal(0, 0.5, (count, 3)), 1, 5)
    widths = rng.uniform(0.2, 2, (count, 3))
    rows, scores = [], []
    for n in range(count):
        first, second, minute = SOUNDS[n % 8], SOUNDS[n // 8 % 8], n % 9973
        before = f"In minute {minute} {first} is heard near the house."
        rows.append(
            {
                "id": f"pair{n:06d}",
                "original": f"clips/original{n // 5:06d}.wav",
                "edited": f"clips/edited{n:06d}.wav",
                "original_caption": before,
                "target_caption": before.replace(".", f", with {second}."),
                "system": f"sys{n % 20}",
                "operation": ("add", "delete", "replace")[n % 3],
                "source": f"scene{n // 5:06d}",
                "ratings": {
                    axis: round(float(x), 2) for axis, x in zip(AXES, rated[n], strict=True)
                },
            }
        )
        values = {axis: float(x) for axis, x in zip(AXES, scored[n], strict=True)}
        ends = {a: (x - widths[n, p], x + widths[n, p]) for p, (a, x) in enumerate(values.items())}
        scores.append(Scores(f"pair{n:06d}", **values, intervals=ends))  # type: ignore[arg-type]
    scores_table.write(scores, folder / "scores.parquet")
    return folder / "scores.parquet", write_rows(folder / "pairs.jsonl", rows)


def opened(page: Path) -> dict[str, Any]:
    """What a reader waits for, in Chromium without a window."""
    with chromium() as browser:
        tab = browser.new_context(viewport=DESK).new_page()
        begun = time.perf_counter()
        tab.goto(page.as_uri(), wait_until="commit")
        tab.wait_for_selector("html[data-ready=true]", timeout=120_000)
        ready = time.perf_counter() - begun
        tab.wait_for_timeout(3000)  # what it does in quiet moments
        painted = tab.evaluate(
            "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
        )
        keys = tab.evaluate(
            """async (typed) => {
              const search = document.querySelector("#search");
              const found = [];
              for (const letter of typed) {
                const begun = performance.now();
                search.value += letter;
                search.dispatchEvent(new Event("input", { bubbles: true }));
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                found.push(performance.now() - begun);
                await new Promise((done) => setTimeout(done, 400));
              }
              return found;
            }""",
            TYPED,
        )
        left = tab.inner_text("#count")
        start = time.perf_counter()
        tab.click("#list th button:text-is('quality')")
        tab.wait_for_selector("#list th[aria-sort=ascending]")
        return {
            "seen (s)": round(painted, 2),
            "all rows there (s)": round(ready, 2),
            "keystroke, median (ms)": round(float(np.median(keys))),
            "keystroke, longest (ms)": round(max(keys)),
            "rows left": left.split()[0],
            "sorted (s)": round(time.perf_counter() - start, 2),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    count = parser.parse_args().pairs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, manifest = written(folder, count)
        page = folder / "page.html"
        begun = time.perf_counter()
        pages.write(pages.read([table], manifest), "none", page)
        seconds = time.perf_counter() - begun
        size = page.stat().st_size / 1e6
        row = {"pairs": f"{count:,}", "written (s)": round(seconds, 1), "size (MB)": round(size, 1)}
        keep("report_speed", "A page of many scored pairs", [{**row, **opened(page)}])


if __name__ == "__main__":
    main()

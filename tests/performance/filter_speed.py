"""Seconds and peak memory of `auditeval filter` at the paper's size, beside plain pandas.

594,000 pairs, 198,000 of each operation, with random scores, through recipes/filter/ssl.yaml. Each
command is a process of its own, from its start to its end, plot and both manifests included;
"other folder" has every path rewritten. Pandas reads, selects and writes both manifests, and no
report. Ways take turns, since a machine is rarely alone; the best of the repeats counts.

Run by hand: python tests/performance/filter_speed.py [--rows 594000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars

AXES = ("quality", "relevance", "faithfulness")
RECIPE = Path(__file__).parents[2] / "recipes" / "filter" / "ssl.yaml"
COMMAND = "from auditeval.cli import main; main()"
PANDAS = """
import sys, pandas
source, scores, kept, rejected = sys.argv[1:]
kind = source.rsplit(".", 1)[1]
options = {"orient": "records", "lines": True} if kind == "jsonl" else {"index": False}
name = {"jsonl": "json"}.get(kind, kind)
lines = {"lines": True} if kind == "jsonl" else {}
pairs = getattr(pandas, "read_" + name)(source, **lines)
table = pandas.read_parquet(scores) if scores.endswith("parquet") else pandas.read_csv(scores)
left = pairs[["id", "operation"]].merge(table, on="id", how="left")
pairs["rejected_by"] = None
def cut(name, kept):
    global left
    pairs.loc[left.index.difference(kept), "rejected_by"] = name
    left = left.loc[left.index.intersection(kept)]
def best(axis, places):
    ranked = left.sort_values([axis, "id"], ascending=[False, True])
    groups = ranked.groupby("operation")
    return ranked.index[groups.cumcount() < places(groups.id.transform("size"))]
cut("round 1", best("faithfulness", lambda size: (size * 3 + 5) // 10))
cut("round 2", left[left.quality >= 3.40].index)
cut("round 3", best("relevance", lambda size: 30000))
keep = pairs.rejected_by.isna()
getattr(pairs[keep].drop(columns="rejected_by"), "to_" + name)(kept, **options)
getattr(pairs[~keep], "to_" + name)(rejected, **options)
"""


def make_tables(folder: Path, rows: int) -> None:
    """pairs.* and scores.*: three operations in turn, captions of usual length."""
    rng = np.random.default_rng(1984)
    number = polars.int_range(rows, eager=True).alias("number").to_frame()
    operations = polars.Series(["add", "delete", "replace"])
    operation = operations.gather(number["number"] % 3)
    stem = polars.format("{}/{}_{}", polars.col("number") // 100, "number", "operation")
    pairs = number.with_columns(operation=operation).select(
        id=polars.format("{}_{}", "operation", polars.col("number").cast(polars.String)),
        original=polars.format("original_wavs/{}_a_2_ab_ori.wav", stem),
        edited=polars.format("target_wavs/{}_a_2_ab_tar.wav", stem),
        original_caption=polars.lit("A man speaks while birds chirp in the background."),
        target_caption=polars.lit(
            "A man speaks while birds chirp in the background, with yapping dog barking sound."
        ),
        instruction=polars.lit("Add the sound of a yapping dog."),
        operation="operation",
        system=polars.lit("tangoflux"),
    )
    scores = pairs.select("id").with_columns(
        **{axis: polars.Series(rng.normal(3.5, 0.35, rows).clip(1, 5).round(6)) for axis in AXES},
        status=polars.lit("ok"),
        reason=polars.lit(""),
    )[rng.permutation(rows)]
    for name, table in (("pairs", pairs), ("scores", scores)):
        table.write_ndjson(folder / f"{name}.jsonl")
        table.write_csv(folder / f"{name}.csv")
        table.write_parquet(folder / f"{name}.parquet")


def measure(code: str, arguments: list[object]) -> tuple[float, float, float]:
    """Seconds and processor seconds, and most GiB, of a fresh process."""
    began = time.perf_counter()
    run = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(run.pid, 0)
    seconds = time.perf_counter() - began
    if status:
        raise SystemExit(f"ended with status {status}: {arguments}")
    return seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=594_000)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_tables(folder, chosen.rows)
        print("| manifest | way | seconds | processor seconds | peak GiB |\n|---|---|--:|--:|--:|")
        for form in ("parquet", "csv", "jsonl"):
            inputs = [folder / f"pairs.{form}", folder / f"scores.{form.replace('jsonl', 'csv')}"]
            ways: dict[str, tuple[str, list[object]]] = {
                "auditeval": (COMMAND, [folder / f"kept_{form}.{form}"]),
                "auditeval, other folder": (COMMAND, [folder / f"{form}_far" / f"kept.{form}"]),
                "pandas": (PANDAS, [folder / f"plain.{form}", folder / f"others.{form}"]),
            }
            found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
            for _ in range(chosen.repeats):
                for way, (code, outputs) in ways.items():
                    command = ["filter", *inputs, "--recipe", RECIPE, "--force", "-o"]
                    found[way].append(
                        measure(code, [*(command if code == COMMAND else inputs), *outputs])
                    )
            for way, figures in found.items():
                seconds, worked, peaks = zip(*figures, strict=True)
                best = f"{min(seconds):.2f} | {min(worked):.2f} | {max(peaks):.2f}"
                print(f"| {form} | {way} | {best} |")
            scan = {"parquet": polars.scan_parquet, "csv": polars.scan_csv}.get(
                form, polars.scan_ndjson
            )
            kept, plain = (
                scan(folder / f"{name}.{form}").select("id").collect()
                for name in (f"kept_{form}", "plain")
            )
            if not kept.equals(plain):
                raise SystemExit(f"{form}: pandas keeps other pairs")


if __name__ == "__main__":
    main()

"""What a benchmark costs: SpeechEditBench in miniature, cold, warm and with another system.

    python tests/performance/bench_speed.py RECORDINGS

RECORDINGS holds esc10. Times one run of all 64 samples for the system that does everything right,
with nothing cached; the same again in another folder, from the cache; and the untouched sources as
a second system, whose sources were heard with the first. Beside it stands what each backend took.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import miniature

from auditeval.audio import Waveform
from auditeval.backends.load import Backends, read
from auditeval.benchmarks.run import run
from auditeval.benchmarks.speecheditbench.benchmark import SpeechEditBench
from auditeval.benchmarks.systems import Identity, OutputFolder, System, find_outputs
from auditeval.judges.replay import ReplayJudge

seconds, clips = Counter[str](), Counter[str]()


class Timed:
    """A backend that counts."""

    def __init__(self, role: str, model: Any) -> None:
        self.name, self.revision, self._role, self._model = model.name, model.revision, role, model
        self.same_speaker_cosine = getattr(model, "same_speaker_cosine", None)

    def __call__(self, clip: Waveform) -> Any:
        started = time.perf_counter()
        result = self._model(clip)
        seconds[self._role] += time.perf_counter() - started
        clips[self._role] += 1
        return result


def main(recordings: Path) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place)
        nodes = read("offline")
        offline = Backends(nodes)
        miniature.write(folder / "mini", recordings, offline)
        models = {r: Timed(r, offline.model(r)) for r in nodes if r in offline}
        judge = ReplayJudge(folder / "mini" / "judge.jsonl")
        backends = Backends({**models, "judge": judge}, folder / "cache")
        benchmark = SpeechEditBench(folder / "mini", backends, protocol="ours")
        outputs = find_outputs(folder / "mini" / "ideal", [s.id for s in benchmark.samples])
        systems: dict[str, System] = {
            "cold": OutputFolder("ideal", outputs),
            "warm": OutputFolder("ideal", outputs),
            "second system": Identity(benchmark),
        }
        for name, system in systems.items():
            seconds.clear()
            clips.clear()
            started = time.perf_counter()
            run(benchmark, system, folder / name, workers=0)
            took = time.perf_counter() - started
            print(f"{name}: {took:.1f} s, of which {sum(seconds.values()):.1f} s in backends")
            for role, spent in seconds.most_common():
                print(f"  {role}: {spent:.1f} s for {clips[role]} clips")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

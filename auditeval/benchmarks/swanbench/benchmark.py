"""SwanBench-Speech [arXiv:2605.28618, 3.4, Appendix C]: long clips to seven metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from auditeval.audio import AudioError, Waveform
from auditeval.backends.load import Backends
from auditeval.benchmarks.benchmark import BenchmarkTable, Missing, Output, Record, Value
from auditeval.benchmarks.provenance import model_name, stand_ins
from auditeval.benchmarks.selection import WHOLE, Selection
from auditeval.benchmarks.swanbench import consistency, listening, tables
from auditeval.benchmarks.swanbench.alignment import speaker_streams
from auditeval.benchmarks.swanbench.samples import LANGUAGES, SwanSample, digest, read_samples
from auditeval.metrics import transcript
from auditeval.metrics.srmr import srmr
from auditeval.text import counted
from auditeval.types import Undefined, UserError

PAPER = {
    "speaker": "wavlm-*-sv",
    "activity": "silero-vad",
    "fidelity": "squim-objective",
    "transcriber_en": "Fun-ASR-Nano*",
    "transcriber_zh": "Fun-ASR-Nano*",
    "prosody_judge": "SpeechJudge*",
    "expressiveness_judge": "gemini-3-pro*",
}
"""Model by role, as our backends name them."""

_CODE = 3
"""Counts the changes here that change a record."""

Found = tuple[Value, dict[str, Any]]


def _seconds(sample: SwanSample) -> float:
    raise UserError("SwanBench-Speech has scripts and no sources, so none lasts any time")


class SwanBench:
    """Files of scripts (JSONL). Outputs are what a system made of each script, one clip.

    Roles: speaker, activity, fidelity, transcriber_en, transcriber_zh, and the judges prosody_judge
    and expressiveness_judge; without one its metrics are undefined. `timings` are seconds of
    inference by system and sample (see `samples.read_timings`), for the real-time factor. The tasks
    of a `selection` are the languages, en and zh.
    """

    name = "swanbench"

    def __init__(
        self,
        scripts: Sequence[Path],
        backends: Backends,
        timings: Mapping[str, Mapping[str, float]] | None = None,
        selection: Selection = WHOLE,
    ) -> None:
        self._selection = selection
        self.samples: list[SwanSample] = selection.of(
            read_samples(scripts), LANGUAGES, lambda sample: [sample.language], _seconds
        )
        self._backends, self._timings = backends, timings or {}
        unused = {"en": "transcriber_en", "zh": "transcriber_zh"}
        for language in {sample.language for sample in self.samples}:
            del unused[language]
        self._paper = {role: model for role, model in PAPER.items() if role not in unused.values()}

    @cached_property
    def settings(self) -> dict[str, Any]:
        return {
            "protocol": tables.PROTOCOL,
            "samples_sha256": digest(self.samples),
            **self._selection.settings,
            "backends": self._backends.named(list(self._paper)),
            "prosody_runs": listening.PROSODY_RUNS,
            "prosody_temperature": listening.PROSODY_TEMPERATURE,
            "code": _CODE,
        }

    def source(self, sample: SwanSample) -> Undefined:
        return Undefined("speech is made from text, nothing is edited")

    def evaluate(self, sample: SwanSample, output: Output) -> Record:
        """The seven metrics, each null with its reason under `undefined` where it does not exist,
        and `details` of each. `turns` of a dialogue is 1 where they are verified, 0 where they are
        not. Of a missing output nothing is said: its `content` error is 1."""
        record: Record = {
            "status": "ok",
            "reason": "",
            "failure": None,
            "language": sample.language,
            "scene": sample.scene,
            "speakers": len(sample.speakers),
            "seconds": None,
            **dict.fromkeys((*tables.METRICS, "fidelity_rating", "turns")),
            "undefined": {},
            "details": {},
        }
        if isinstance(output, Missing):
            record |= {
                "status": "failed",
                "reason": output.reason,
                "failure": "unreadable_output" if output.unreadable else "missing_output",
                "content": 1.0,
                "undefined": {m: output.reason for m in tables.METRICS if m != "content"},
            }
            if len(sample.speakers) > 1:
                record["undefined"]["turns"] = output.reason
            return record
        record["seconds"] = round(output.seconds, 6)
        makers: dict[str, Callable[[SwanSample, Waveform], Found]] = {
            "timbre": self._timbre,
            "reverb": self._reverb,
            "fidelity": self._fidelity,
            "content": self._content,
            "prosody": self._prosody,
            "richness": self._richness,
            "hierarchy": self._hierarchy,
        }
        for metric, make in makers.items():
            try:
                value, details = make(sample, output)
            except AudioError as error:
                value, details = Undefined(str(error)), {}
            record["details"][metric] = details
            if metric == "fidelity" and details:
                record["fidelity_rating"] = tables.fidelity_rating(details)
            if isinstance(value, Undefined):
                record["undefined"][metric] = value.reason
            else:
                record[metric] = round(float(value), 6)
        if len(sample.speakers) > 1:
            verified = record["details"]["timbre"].get("verified")
            if verified is None:
                record["undefined"]["turns"] = record["undefined"]["timbre"]
            else:
                record["turns"] = float(verified)
        reason = ""
        if silent := sum(d.get("unanswered", 0) for d in record["details"].values()):
            reason = f"{counted(silent, 'question has', 'questions have')} no answer"
        elif record["undefined"].keys() >= {*tables.METRICS}:
            reason = "; ".join(dict.fromkeys(record["undefined"].values()))
        if reason:
            record |= {"status": "unscored", "reason": reason, "failure": "no_verdict"}
        return record

    def values(self, records: Sequence[Record]) -> dict[str, Value]:
        """Mean of each metric over the records that have it, and their share (`*_coverage`); WER
        and CER apart; of dialogues whose turns are found, the share verified; shares of samples
        with an output and without open questions.

        In `content` the error of an output counts up to 1, and that of a missing one, which has no
        other value, is 1: to drop an output never improves it. Records keep the error itself."""
        return tables.values(records, self._timings)

    def tables(self, systems: Mapping[str, Sequence[Record]]) -> list[BenchmarkTable]:
        columns = tables.column_names(self._backends, self._paper)
        sentences = [*self._selection.sentences, *stand_ins(self._backends, self._paper)]
        verifier = "turns: nobody verifies them (the paper: 3D-Speaker)"
        if "speaker" in self._backends:
            speaker = model_name(self._backends.model("speaker"))
            verifier = f"turns: {speaker} stands in for 3D-Speaker"
        return tables.of(systems, columns, sentences, verifier, self._timings)

    def _timbre(self, sample: SwanSample, clip: Waveform) -> Found:
        if "speaker" not in self._backends:
            return Undefined("no backend for speaker"), {}
        if "activity" in self._backends and not self._backends("activity", clip).spans:
            return Undefined("nobody speaks"), {}  # the timbre of noise never changes
        streams: Mapping[str, Waveform] | Undefined = {sample.speakers[0]: clip}
        if len(sample.speakers) > 1:
            role = f"transcriber_{sample.language}"
            if role not in self._backends:
                return Undefined(f"no backend for {role}, which tells who speaks when"), {}
            words = self._backends(role, clip).words
            streams = speaker_streams(clip, sample.content, words, sample.language)
        if isinstance(streams, Undefined):
            return streams, {}
        embedded = {speaker: self._embeddings(stream) for speaker, stream in streams.items()}
        details: dict[str, Any] = {
            "speakers": {
                speaker: {"seconds": round(streams[speaker].seconds, 6), "windows": len(rows)}
                for speaker, rows in embedded.items()
            }
        }
        if len(embedded) > 1 and all(map(len, embedded.values())):
            details |= self._turns(embedded)
            if not details["verified"]:
                return Undefined("one voice speaks for all speakers"), details
        return consistency.timbre_consistency(list(embedded.values())), details

    def _turns(self, embedded: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Whether two voices are heard, so that a turn from one to the other occurs (C.1).

        Two speakers of the script are one voice where their windows have a mean cosine from the
        backend's `same_speaker_cosine` on. The paper counts the voices by 3D-Speaker, and does not
        say what becomes of a clip that has one only: here it has no timbre consistency, which
        would be high. By Resemblyzer, on neutral speech of EMO-DB (streams of 2 to 4 sentences), 0
        of 8 pairs of one actor pass for two, and 5 of 70 pairs of two actors for one; of one actor
        in mixed acted emotions 31 of 47 pass, whose timbre consistency is low.
        """
        cosines = {
            f"{first}, {second}": consistency.mean_cosine_between(embedded[first], embedded[second])
            for first, second in combinations(embedded, 2)
        }
        least = self._backends.model("speaker").same_speaker_cosine
        return {
            "verified": min(cosines.values()) < least,
            "cosines": {pair: round(cosine, 6) for pair, cosine in cosines.items()},
        }

    def _embeddings(self, stream: Waveform) -> np.ndarray:
        """Of all windows (n, d); one in which nothing is heard has none."""
        rows = []
        for window in consistency.speaker_windows(stream):
            try:
                rows.append(self._backends("speaker", window).values)
            except AudioError:
                continue
        return np.array(rows)

    def _reverb(self, sample: SwanSample, clip: Waveform) -> Found:
        if "activity" not in self._backends:
            return Undefined("no backend for activity"), {}
        windows = consistency.speaker_windows(clip)
        values = [srmr(window) for window in windows]
        shares = consistency.speech_shares(self._backends("activity", clip), len(windows))
        details = {
            "srmr": [None if isinstance(v, Undefined) else round(v, 6) for v in values],
            "speech_shares": [round(share, 6) for share in shares],
        }
        return consistency.reverb_consistency(values, shares), details

    def _fidelity(self, sample: SwanSample, clip: Waveform) -> Found:
        if "fidelity" not in self._backends:
            return Undefined("no backend for fidelity"), {}
        ratings = self._backends("fidelity", clip).values
        rating = tables.fidelity_rating(ratings)
        return ratings[rating], {name: round(value, 6) for name, value in ratings.items()}

    def _content(self, sample: SwanSample, clip: Waveform) -> Found:
        role = f"transcriber_{sample.language}"
        if role not in self._backends:
            return Undefined(f"no backend for {role}"), {}
        heard = self._backends(role, clip).text
        normalise, rate = {
            "en": (transcript.normalise_swanbench_english, transcript.word_error_rate),
            "zh": (transcript.normalise_swanbench_chinese, transcript.character_error_rate),
        }[sample.language]
        return rate(normalise(sample.text), normalise(heard)), {"transcript": heard}

    def _prosody(self, sample: SwanSample, clip: Waveform) -> Found:
        return self._judged(
            "prosody_judge", lambda judge: listening.prosody(judge, clip, sample.script)
        )

    def _richness(self, sample: SwanSample, clip: Waveform) -> Found:
        return self._judged("expressiveness_judge", lambda judge: listening.richness(judge, clip))

    def _hierarchy(self, sample: SwanSample, clip: Waveform) -> Found:
        return self._judged("expressiveness_judge", lambda judge: listening.hierarchy(judge, clip))

    def _judged(self, role: str, ask: Callable[[Any], list[listening.Opinion]]) -> Found:
        if role not in self._backends:
            return Undefined(f"no {role}"), {}
        opinions = ask(self._backends.model(role))
        details = {
            "opinions": [opinion._asdict() for opinion in opinions],
            "unanswered": sum(opinion.score is None for opinion in opinions),
        }
        return listening.mean_score(opinions), details

"""`JudgeAt`: where the judge of a run is and how it is asked, as a command or a script names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class JudgeAt:
    """`place` is recorded answers (.jsonl), the URL of an OpenAI-compatible endpoint, which needs
    its `model`, or an audio language model; None: that of the backends.

    An endpoint has `timeout_seconds` for a request and `retries` more for a question; after
    `failures` questions in a row without an answer a run ends. None of these: as the class of the
    judge has it. `check`: it is first asked what is known (`auditeval.judges.check`).
    """

    place: str | None = None
    model: str | None = None
    timeout_seconds: float | None = None
    retries: int | None = None
    failures: int | None = None
    check: bool = True

    def node(self) -> dict[str, Any] | None:
        """Its node in the configuration of backends, None where it stands there already.

        Raises UserError for an option that this kind of judge does not have.
        """
        from auditeval.types import UserError  # with it comes pydantic, too slow for --help

        place = self.place or ""
        if place.startswith(("http://", "https://")):
            if self.model is None:
                raise UserError("--judge is an endpoint: name its model by --judge-model")
            kind, arguments = "http.HTTPJudge", {"base_url": place, "model": self.model}
            known = {"timeout_seconds", "retries", "failures"}
        elif self.place is None:
            kind, arguments, known = "", {}, set()
        elif place.endswith(".jsonl"):
            kind, arguments, known = "replay.ReplayJudge", {"path": place}, set()
        else:
            kind, arguments, known = "local.LocalJudge", {"checkpoint": place}, {"failures"}
        if self.model is not None and "model" not in arguments:
            raise UserError("--judge-model goes with a --judge that is an endpoint")
        options = {
            "timeout_seconds": ("--judge-timeout", self.timeout_seconds),
            "retries": ("--judge-retries", self.retries),
            "failures": ("--judge-failures", self.failures),
        }
        for name, (option, value) in options.items():
            if value is not None and name not in known:
                also = " or a model" if name == "failures" else ""
                raise UserError(
                    f"{option} goes with a --judge that is an endpoint{also}; in the file of "
                    f"--backends it is {name} of a judge"
                )
        given = {name: value for name, (_, value) in options.items() if value is not None}
        return {"_target_": f"auditeval.judges.{kind}", **arguments, **given} if kind else None

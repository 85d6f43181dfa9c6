"""Where a rater stands: which page comes next, and whether a vote may be taken."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from auditeval.listening import design, headphones
from auditeval.listening.clips import Clips
from auditeval.listening.settings import Settings
from auditeval.listening.votes_database import Rater, Trial, Vote, VotesDatabase
from auditeval.types import AXES

CANNOT = ("no_sound", "unclear", "disturbed", "other")
MOST_COMMENT = 2000
_LONGEST_SECONDS = 600.0  # of one trial, counted as listening: longer ones were a pause
_SLACK_SECONDS = 0.3  # a player's clock may run a little fast


class Step(NamedTuple):
    """The name of a page, the trial that it is about, and all of the rater's so far."""

    page: str
    trial: Trial | None = None
    trials: tuple[Trial, ...] = ()


class Refused(ValueError):
    """A vote that is not taken; says why, and with which HTTP status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass
class Session:
    """The test that a server runs."""

    database: VotesDatabase
    settings: Settings
    texts: dict[str, Any]
    clips: Clips = field(init=False)

    def __post_init__(self) -> None:
        self.clips = Clips(self.database.pairs, self.settings.seed)
        self.secret = self.database.fact("secret")

    def step(self, rater: Rater) -> Step:
        """The page that this rater is to see now, whatever they asked for."""
        if rater.finished is not None:
            return Step("thanks")
        if rater.consented is None:
            return Step("consent")
        if self.settings.headphone_check:
            check = headphones.of_json(rater.headphones)
            if check is None or not check.over:
                return Step("headphones")
        trials, votes = self.database.trials(rater), self.database.votes(rater)
        waiting = [trial for trial in trials if trial.number not in votes]
        for trial in trials:
            if trial.kind == "training" and trial.seen is None and trial.number in votes:
                return Step("explained", trial, tuple(trials))
        if self._out_of_time(trials, votes):
            return self._finished(rater)
        if not waiting:
            waiting = design.next_block(self.database, self.settings, rater)
            if not waiting and not self._has_had_a_turn(trials, votes):
                return Step("later")
            if not waiting:
                return self._finished(rater)
            trials += waiting
        trial = waiting[0]
        begins = all(other.block < trial.block for other in trials[: trial.position])
        if begins and trial.block > 1 and trial.shown is None:
            return Step("pause", trial, tuple(trials))
        if trial.shown is None:
            self.database.note_trial(trial, "shown", time.time())
        return Step("trial", trial, tuple(trials))

    def _finished(self, rater: Rater) -> Step:
        """An end that stays one, even where places come free: others count on it (`settled`)."""
        self.database.note_rater(rater, "finished", time.time())
        return Step("thanks")

    def _has_had_a_turn(self, trials: list[Trial], votes: dict[int, Vote]) -> bool:
        """Whether who is given nothing rated before, or nobody's turn is to come; else others hold
        the places, and may leave them."""
        rated = any(trial.kind == "rating" and trial.number in votes for trial in trials)
        return rated or design.is_complete(self.database, self.settings)

    def voted(self, trial: Trial) -> bool:
        """Whether a trial has its vote."""
        return bool(self.database.rows("SELECT 1 FROM votes WHERE trial = ?", (trial.number,)))

    def _out_of_time(self, trials: list[Trial], votes: dict[int, Vote]) -> bool:
        most = self.settings.most_minutes
        spent = sum(min(vote.seconds, _LONGEST_SECONDS) for vote in votes.values())
        return most is not None and spent > 60 * most

    def expected_trials(self, rater: Rater, trials: tuple[Trial, ...]) -> int:
        """About how many trials this rater will have had at the end, those of training left out."""
        settings, pairs = self.settings, len(self.database.pairs)
        blocks = -(-pairs // settings.block)
        extra = settings.attention_share + settings.repeat_share
        given = sum(trial.kind != "training" for trial in trials)
        made = len({trial.block for trial in trials if trial.kind != "training"})
        size = min(settings.block, pairs) * (1 + extra)
        most = settings.most_trials or given + 10**6
        return max(given, min(round(given + max(0, blocks - made) * size), most))

    def heard(self, trial: Trial, side: str, now: float) -> None:
        """Note that a clip was heard to its end; raises Refused where that cannot be yet."""
        served = {"original": trial.original_served, "edited": trial.edited_served}
        known = {"original": trial.original_heard, "edited": trial.edited_heard}
        if side not in served:
            raise Refused(422, "side")
        begin = served[side]
        if begin is None:
            raise Refused(409, "the clip was never sent")
        seconds = {
            name: self.clips.clip(trial.pair, trial.form, name)[1]
            for name in ("original", "edited")
        }
        needed, since = seconds[side], begin
        other = "edited" if side == "original" else "original"
        if known[other] is not None:  # one plays at a time
            needed, since = needed + seconds[other], min(begin, served[other] or begin)
        if 0 <= now - since < needed - _SLACK_SECONDS:  # less where the clock was set back
            raise Refused(409, "so much time has not passed")
        self.database.note_trial(trial, f"{side}_heard", now)

    def vote(self, rater: Rater, trial: Trial, fields: dict[str, str], now: float) -> None:
        """Take the vote of a form, once; raises Refused where there is none that can be taken.

        A vote that is there already stays as it is, and to send another is no error: it is what a
        second tab, a double click or a repeated request does.
        """
        votes = self.database.votes(rater)
        if trial.number in votes:
            return
        current = next(t for t in self.database.trials(rater) if t.number not in votes)
        if current.number != trial.number or trial.shown is None:
            raise Refused(409, "another recording comes first")
        cannot = fields.get("cannot") or None
        if cannot is not None and cannot not in CANNOT:
            raise Refused(422, "cannot")
        comment = fields.get("comment", "").replace("\r\n", "\n")
        if len(comment) > MOST_COMMENT or "\0" in comment:
            raise Refused(422, "comment")
        if cannot is None and None in (trial.original_heard, trial.edited_heard):
            raise Refused(409, "both recordings are to be heard first")
        grades = {a: None if cannot else self._grade(fields.get(a, "")) for a in AXES}
        seconds = max(0.0, now - trial.shown)
        vote = Vote(trial.number, **grades, cannot=cannot, comment=comment, at=now, seconds=seconds)
        self.database.vote(vote)

    def _grade(self, given: str) -> float:
        """A grade on the scale of this test."""
        steps = 1 / self.settings.step
        allowed = {f"{1 + place / steps:g}" for place in range(int(4 * steps) + 1)}
        if given not in allowed:
            raise Refused(422, "a grade")
        return float(given)


def answers(fields: dict[str, str]) -> list[int]:
    """The answers to the headphone check, places from 0; raises Refused."""
    try:
        found = [int(fields[f"answer{number}"]) for number in range(headphones.QUESTIONS)]
    except (KeyError, ValueError):
        raise Refused(422, "answers") from None
    if not all(0 <= answer < 3 for answer in found):
        raise Refused(422, "answers")
    return found


def check_headphones(session: Session, rater: Rater, fields: dict[str, str]) -> bool:
    """Note a try at the headphone check; whether there is to be no other."""
    check = headphones.of_json(rater.headphones)
    if check is None or check.over:
        return True
    if fields.get("first") != check.clips[0]:  # a form sent twice is one try
        return False
    check.scores.append(check.right(answers(fields)))
    if not check.over:
        check = headphones.new(check.scores)
    session.database.note_rater(rater, "headphones", check.model_dump_json())
    return check.over


def headphone_check(session: Session, rater: Rater) -> headphones.Check:
    """The check of a rater, made when it is first asked for."""
    check = headphones.of_json(rater.headphones)
    if check is None:
        check = headphones.new([])
        session.database.note_rater(rater, "headphones", json.dumps(check.model_dump()))
    return check

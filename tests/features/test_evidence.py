"""Evidence of relevance: none in an equal clip, each on its own side, of any label alike."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from auditeval import audio
from auditeval.data.mixing import place
from auditeval.data.soundbank import synthesize
from auditeval.features.alignment import Alignment
from auditeval.features.comparison import Frames, changed_words
from auditeval.features.encoder import Clip, EncodedPair, Encoder
from auditeval.features.evidence import (
    _LEAST_NAMES,
    _SIDE_NAMES,
    CAPTION_NAMES,
    LABEL_NAMES,
    LEAST_PATCHES,
    SHIFT_FLOOR,
    SIMILARITY_NAMES,
    Alone,
    weigh_captions,
    weigh_labels,
    weigh_similarity,
)
from auditeval.features.extractor import Extractor, Texts
from auditeval.features.extractors.events import Events
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.types import UserError

LABELS = 12
SHARES = ("added_mean_share", "added_only_share")
# Measured on the 60 mixes below: .79 and .81, .80 and .83; chance is .50.
LEAST_RIGHT = 0.75


def words(*labels: int) -> np.ndarray:
    """Nearly all weight on these labels."""
    weights = np.full(LABELS, 1e-6, np.float32)
    weights[list(labels)] = 1
    return weights / weights.sum()


NO_WORDS = np.zeros(LABELS, np.float32)


def tagged(joint: np.ndarray) -> Frames:
    joint = joint.astype(np.float16)
    return {"joint": joint}


def frames(peaks: dict[int, float], patches: int = 8, at: int = 4) -> Frames:
    """Label 0 all the time, others at one patch."""
    joint = np.zeros((patches, LABELS), np.float16)
    joint[:, 0] = 5
    for label, level in peaks.items():
        joint[at, label] = level
    return tagged(joint)


def aligned(before: Frames, after: Frames, lag: int = 0, gain: float = 0.0) -> Alignment:
    """Nothing changed in time; the joint frames stand for the log-mel ones."""
    nothing = np.zeros(0, np.float32)
    mel = before["joint"], after["joint"]
    return Alignment(nothing, lag, gain, nothing, *mel, nothing, nothing)


def louder(clip: np.ndarray, other: np.ndarray, lag: int) -> Alone:
    """Of a clip without another what is louder in its labels, all of it unusual."""
    heard, taken = (x.astype(np.float32).max(axis=0) for x in (clip, other))
    left = np.maximum(heard - taken, 0)
    return Alone(left, left / 2, float(left.sum() / heard.sum()))


def weighed(before: Frames, after: Frames, *texts: np.ndarray) -> np.ndarray:
    """`texts`: of the words added and removed, of the original and of the target caption."""
    added, removed, original, target = texts
    worded = Texts(original, target, added, removed, NO_WORDS)
    return weigh_labels(before, after, aligned(before, after), worded, louder)


def named(before: Frames, after: Frames, *texts: np.ndarray) -> dict[str, float]:
    return dict(zip(LABEL_NAMES, weighed(before, after, *texts).tolist(), strict=True))


def test_names_and_numbers_go_together() -> None:
    x, texts = frames({1: 3}), Texts(*[NO_WORDS] * 5)
    for names, values in (
        (LABEL_NAMES, weighed(x, x, *texts[:4])),
        (SIMILARITY_NAMES, weigh_similarity(x, x, None, texts)),
        (CAPTION_NAMES, weigh_captions(texts)),
    ):
        assert len(set(names)) == len(names) == len(values)
        assert values.dtype == np.float32


@pytest.mark.parametrize(("first", "second"), [(1, 1), (1, 9), (9, 1), (5, 6)])
@pytest.mark.parametrize("worded", [True, False])
def test_any_lengths_and_words_give_finite_numbers(first: int, second: int, worded: bool) -> None:
    rng = np.random.default_rng(first * 10 + second)
    a, b = (tagged(rng.uniform(0, 9, (n, LABELS))) for n in (first, second))
    texts = rng.dirichlet(np.ones(LABELS), 4)
    found = weighed(a, b, *texts.astype(np.float32) * worded)
    assert found.dtype == np.float32
    assert np.isfinite(found).all()


def test_an_equal_clip_has_no_evidence_of_change() -> None:
    x = frames({1: 8, 2: 4})
    found = named(x, x, words(1), words(2), words(0), words(0, 1))
    presence = ("_before", "_after", "_top")
    for name, value in found.items():
        assert name.endswith(presence) or value == pytest.approx(0, abs=1e-6), name


def test_what_was_asked_is_told_from_something_else() -> None:
    texts = words(1), NO_WORDS, words(0), words(0, 1)
    right, wrong = (named(frames({}), frames({label: 8}), *texts) for label in (1, 2))
    untouched = named(frames({}), frames({}), *texts)
    for name in ("mean_along", "mean_share", "mean_sharp", "mean_hit", "along", "share", "moment",
                 "only_along", "only_share", "only_hit", "only_lead",
                 "only_unusual", "only_unusual_hit", "only_unusual_lead"):  # fmt: skip
        assert right[f"added_{name}"] > wrong[f"added_{name}"], name
        assert right[f"added_{name}"] > untouched[f"added_{name}"], name
    for name in ("added_only_unusual", "added_only_unusual_hit"):  # half of what is heard
        heard_so = name.replace("unusual_hit", "hit").replace("unusual", "along")
        assert right[name] == pytest.approx(right[heard_so] / 2)
    assert right["added_mean_share"] > 0.75 > 0.1 > wrong["added_mean_share"]
    lead = 1 - SHIFT_FLOOR  # 8 in one patch of 8
    assert right["added_mean_lead"] == pytest.approx(lead)
    assert wrong["added_mean_lead"] == pytest.approx(-lead)
    assert (right["added_mean_rank"], wrong["added_mean_rank"]) == (0, pytest.approx(np.log(2)))
    assert right["rise_mean"] == wrong["rise_mean"] > untouched["rise_mean"] == 0
    removed = [right[name] for name in LABEL_NAMES if name.startswith("removed_")]
    assert removed == [0] * len(_SIDE_NAMES)


def test_what_nobody_asked_for_strays_at_a_time_of_its_own() -> None:
    """Also where the sound that was asked for is the louder one."""
    texts = words(1), NO_WORDS, words(0), words(0, 1)
    right = frames({1: 8})["joint"]
    too = right.copy()
    too[1, 2] = 4
    alone, beside, instead = (
        named(frames({}), tagged(joint), *texts) for joint in (right, too, frames({2: 8})["joint"])
    )
    assert alone["added_stray"] == 0 < beside["added_stray"] < instead["added_stray"]
    assert beside["added_mean_lead"] > 0  # in the mean over time it does not show


@pytest.mark.parametrize(("lost", "stayed"), [(0, True), (1, False), (2, True)])
def test_of_two_sounds_the_one_that_went_is_told(lost: int, stayed: bool) -> None:
    """Of labels 1 and 2 that are there, both at one time, 2 is to go."""
    joint = frames({1: 8, 2: 8})["joint"]
    left = joint.copy()
    left[:, lost] = 0
    texts = NO_WORDS, words(2), words(1, 2), words(1)
    found = named(tagged(joint), tagged(left), *texts)
    assert (found["kept_moment"] == 0) == stayed
    assert round(found["kept_lead"] / 2.2) == {0: 0, 1: 1, 2: -1}[lost]


def test_the_opposite_instruction_turns_the_sign() -> None:
    texts = words(1), NO_WORDS, words(0), words(0, 1)
    there = named(frames({}), frames({1: 8}), *texts)
    back = named(frames({1: 8}), frames({}), *texts)
    for name in ("added_mean_along", "captions_along"):
        assert back[name] == pytest.approx(-there[name])
        assert there[name] > 0
    assert back["added_mean_share"] == back["added_along"] == 0
    assert back["fall_mean"] == there["rise_mean"]


def test_each_side_is_heard_without_the_other_where_it_is_the_same() -> None:
    heard = []

    def recorded(clip: np.ndarray, other: np.ndarray, lag: int) -> Alone:
        of = {id(a["joint"]): "original"}
        heard.append((of.get(id(clip), clip.max()), of.get(id(other), other.max()), lag))
        return louder(clip, other, lag)

    a, b = frames({1: 8}), frames({2: 8})
    later_and_louder = aligned(a, b, lag=30, gain=6.0)
    texts = Texts(words(0, 1), words(0, 2), added=words(2), removed=words(1), instruction=NO_WORDS)
    weigh_labels(a, b, later_and_louder, texts, recorded)
    softer = b["joint"].max() - 6
    assert heard == [(softer, "original", -30), ("original", softer, 30)]
    weigh_labels(a, b, later_and_louder, Texts(*[NO_WORDS] * 5), recorded)
    assert len(heard) == 2  # what nobody asked for costs nothing
    values = weigh_labels(a, b, None, texts, recorded)
    assert len(heard) == 2  # nor what cannot be told apart
    alone = dict(zip(LABEL_NAMES, values.tolist(), strict=True))
    assert not any(value for name, value in alone.items() if "_only_" in name)


def test_adding_and_removing_mirror_each_other() -> None:
    rng = np.random.default_rng(4)
    a, b = (tagged(rng.uniform(0, 9, (7, LABELS))) for _ in range(2))
    there = named(a, b, words(1, 3), words(2), words(0, 2), words(0, 1, 3))
    back = named(b, a, words(2), words(1, 3), words(0, 1, 3), words(0, 2))
    for one, other in (("added", "removed"), ("rise", "fall")):
        for name in (n for n in LABEL_NAMES if n.startswith(f"{one}_")):
            mirrored = name.replace(one, other)
            assert there[name] == pytest.approx(back[mirrored], abs=1e-5), name
            assert back[name] == pytest.approx(there[mirrored], abs=1e-5), name


def test_no_label_has_a_number_of_its_own() -> None:
    """Whatever the labels are called and in which order they come, the evidence is the same."""
    rng = np.random.default_rng(5)
    joints = [rng.uniform(0, 9, (6, LABELS)).astype(np.float16) for _ in range(2)]
    texts = [words(1), words(2, 4), words(0, 2, 4), words(0, 1)]
    order = rng.permutation(LABELS)
    moved = [text[order] for text in texts]
    expected = weighed(*(tagged(x) for x in joints), *texts)
    found = weighed(*(tagged(x[:, order]) for x in joints), *moved)
    assert found == pytest.approx(expected, abs=1e-4)


def test_a_patch_that_came_one_earlier_or_later_is_no_change() -> None:
    texts = words(1), words(2), words(0), words(0)
    for at in (3, 5):
        found = named(frames({1: 8, 2: 8}), frames({1: 8, 2: 8}, at=at), *texts)
        for side in ("added", "removed"):
            assert found[f"{side}_along"] == found[f"{side}_moment"] == 0
        assert found["rise_span"] == found["rise_mean"] == 0


def test_of_two_things_asked_for_the_one_that_is_less_there_counts() -> None:
    texts = words(1), words(2), words(0, 2), words(0, 1)
    both, added, gone = (
        named(frames({2: 8}), frames(after), *texts) for after in ({1: 8}, {1: 8, 2: 8}, {})
    )
    alone = named(frames({}), frames({1: 8}), words(1), NO_WORDS, words(0), words(0, 1))
    for name in _LEAST_NAMES:
        assert both[f"least_{name}"] == min(both[f"added_{name}"], both[f"removed_{name}"]) > 0
        assert both[f"least_{name}"] > max(added[f"least_{name}"], gone[f"least_{name}"]), name
        assert alone[f"least_{name}"] == alone[f"added_{name}"]


def test_an_event_is_no_less_there_in_a_longer_clip() -> None:
    """What is as it was counts for no patch, beyond those of five seconds."""
    texts = words(1), words(2), words(0, 2), words(0, 1)
    found = []
    for patches in (LEAST_PATCHES, 6 * LEAST_PATCHES):
        before, after = (frames({label: 8}, patches) for label in (2, 1))
        spans = np.arange(patches)[:, None] * 48 + np.array([0, 96])
        change = np.zeros(48 * patches + 48, np.float32)
        change[4 * 48 + 50 : 4 * 48 + 60] = 6.0
        alignment = aligned(before, after)._replace(change=change)
        clips = before | {"span": spans}, after | {"span": spans}
        worded = Texts(texts[2], texts[3], texts[0], texts[1], NO_WORDS)
        found.append(weigh_labels(*clips, alignment, worded, louder))
    assert found[0] == pytest.approx(found[1], abs=1e-5)
    assert found[0][LABEL_NAMES.index("added_mean_along")] > 0.1


def windows(*rows: int) -> Frames:
    """Windows of a space of unit embeddings, each along one of its axes."""
    return {"joint": np.eye(LABELS, dtype=np.float32)[list(rows)]}


def similar(before: Frames, after: Frames, added: int, removed: int) -> dict[str, float]:
    axes = np.eye(LABELS, dtype=np.float32)
    texts = Texts(axes[removed], axes[added], axes[added], axes[removed], NO_WORDS)
    values = weigh_similarity(before, after, None, texts)
    return dict(zip(SIMILARITY_NAMES, values.tolist(), strict=True))


def test_windows_of_embeddings_tell_what_was_asked_for_from_something_else() -> None:
    before = windows(0, 1)
    right, wrong, untouched = (
        similar(before, windows(0, now), added=2, removed=1) for now in (2, 3, 1)
    )
    for side, other in (("added", 0.0), ("removed", 0.5)):
        assert right[f"{side}_mean_along"] == pytest.approx(0.5)
        assert wrong[f"{side}_mean_along"] == pytest.approx(other)
        assert right[f"{side}_mean_share"] > wrong[f"{side}_mean_share"] - 1e-6
        assert right[f"{side}_moment"] == 1
        assert untouched[f"{side}_mean_along"] == untouched[f"{side}_moment"] == 0
    assert right["captions_along"] == pytest.approx(2**-0.5)
    assert right["captions_share"] > wrong["captions_share"] > untouched["captions_share"] == 0
    assert (right["target_after"], wrong["target_after"]) == (1, 0)


def test_captions_are_alike_by_their_cosine() -> None:
    same, other = np.eye(2, dtype=np.float32)
    assert weigh_captions(Texts(same, same, 0 * same, 0 * same, 0 * same)).tolist() == [1, 0]
    assert weigh_captions(Texts(same, other, other, same, 0 * same)).tolist() == [0, 1]


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    try:
        return Encoder([Events(), Spectrum()])
    except UserError as error:
        pytest.skip(str(error))


def heard(encoder: Encoder, samples: np.ndarray) -> Clip:
    clip = samples.astype(np.float32)
    return {x.name: x.encode_clip(clip) for x in encoder.hearing}


def shares(encoder: Encoder, before: Clip, after: Clip, event: str) -> np.ndarray:
    """How well what was added fits the name of an event :: a value for each of SHARES."""
    original, target = "Waves roll.", f"Waves roll, with {event}."
    events = encoder.extractors["events"]
    nothing = np.zeros(events.text_dim, np.float32)
    texts = [original, target, *changed_words(original, target), ""]
    rows = [embedded(events, x) if x else nothing for x in texts]
    made = encoder.pair(EncodedPair(before, after, {"events": Texts(*rows)}))
    numbers = [made.evidence[encoder.inputs.evidence.index(f"events.{name}")] for name in SHARES]
    return np.array(numbers)


def at_peak_of(event: np.ndarray, background: np.ndarray) -> np.ndarray:
    return event * (np.abs(background).max() / np.abs(event).max())


@cache
def embedded(events: Extractor, text: str) -> np.ndarray:
    return events.encode_text([text])[0]


def test_words_are_found_in_what_was_added(encoder: Encoder) -> None:
    rate = Events.rate_hz
    events = {"siren": "a siren", "baby_cry": "a baby crying", "whistle": "a whistle"}
    sea = 0.2 * synthesize("sea_waves", 3, 4.0, rate)
    before = heard(encoder, sea)
    for name, right in events.items():
        event = at_peak_of(synthesize(name, 8, 1.5, rate), sea)
        after = heard(encoder, sea + place(event, rate, len(sea)))
        table = np.array([shares(encoder, before, after, words) for words in events.values()])
        assert [list(events.values())[row] for row in table.argmax(axis=0)] == [right, right]


def test_a_level_is_taken_out_of_what_only_one_clip_has(encoder: Encoder) -> None:
    """An edit that is softer or louder holds the same; where nothing came, nothing is there."""
    rate = Events.rate_hz
    sea = 0.1 * synthesize("sea_waves", 3, 3.0, rate)
    siren = sea + place(at_peak_of(synthesize("siren", 8, 1.0, rate), sea), rate, len(sea))
    before, only = heard(encoder, sea), encoder.inputs.evidence.index("events.added_only_loud")
    events = encoder.extractors["events"]
    rows = [embedded(events, text) for text in ("Waves roll.", "A siren.", "a siren")]
    texts = Texts(*rows, np.zeros(events.text_dim, np.float32), rows[0])
    for edited, least, most in ((siren, 0.15, 0.5), (sea, 0.0, 0.02)):
        for gain in (1.0, 0.5, 2.0):
            after = heard(encoder, gain * edited)
            made = encoder.pair(EncodedPair(before, after, {"events": texts}))
            assert least <= float(made.evidence[only]) <= most


def test_words_are_found_in_recordings(encoder: Encoder, shared_data: Path) -> None:
    """The right event against a wrong one, and its words against others; nothing was trained."""
    with (shared_data / "esc10" / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    rate, clips = Events.rate_hz, {}
    labels = ["dog bark", "baby cry", "chainsaw", "rooster", "helicopter", "clock tick"]
    for label in [*labels, "sea waves"]:
        files = [row["file"] for row in rows if row["label"] == label][3:8]
        decoded = [audio.decode(shared_data / "esc10" / name) for name in files]
        clips[label] = [audio.resample(x, rate)[: 4 * rate] for x in decoded]
    against_sounds, against_words = [], []
    for take, sea in enumerate(clips["sea waves"]):
        before, rated = heard(encoder, sea), []
        for label in labels:
            event = at_peak_of(clips[label][take][: 2 * rate], sea)
            after = heard(encoder, sea + place(event, rate, len(sea)))
            rated.append([shares(encoder, before, after, f"a {name}") for name in labels])
        others = ~np.eye(len(labels), dtype=bool)
        for table in np.moveaxis(np.array(rated), -1, 0):
            own = np.diag(table)
            against_sounds.append((own[None] > table)[others].mean())
            against_words.append((own[:, None] > table)[others].mean())
    for right in (against_sounds, against_words):
        assert (np.reshape(right, (-1, len(SHARES))).mean(axis=0) >= LEAST_RIGHT).all()

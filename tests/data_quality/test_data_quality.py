"""The catalogue: what each metric makes of features, its direction and range, streaming, N."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import entropy

from auditeval.data_quality.catalogue import (
    ENCODER_ROLES,
    METRICS,
    Accumulation,
    Heard,
    Measured,
    summarise,
)
from auditeval.data_quality.groups import GROUPS, Deal, Unit
from auditeval.features.extractor import AudioFeatures
from auditeval.metrics.divergence import inception_score
from auditeval.types import Undefined

DIM, CLASSES = 6, 5
TAGGER = [METRICS[n] for n in METRICS if METRICS[n].role == "yamnet"]
CLAP = [METRICS[n] for n in METRICS if METRICS[n].role == "clap"]


def heard(count: int, shift: float = 0.0, seed: int = 0) -> dict[str, Heard]:
    rng = np.random.default_rng(seed)

    def clip(mean: float) -> AudioFeatures:
        frames = {
            "patch": rng.normal(mean, 1, (rng.integers(4, 9), DIM)).astype(np.float16),
            "logits": rng.normal(0, 2, (1, CLASSES)).astype(np.float32),
        }
        return AudioFeatures(rng.normal(mean + 1, 1, DIM).astype(np.float32), frames)

    return {
        f"id {i}": Heard(clip(0), clip(shift), rng.normal(1, 1, DIM).astype(np.float32), DIM)
        for i in range(count)
    }


def value(found: dict[str, Measured], name: str) -> float:
    made = found[name].value
    assert isinstance(made, float)
    return made


def test_the_catalogue_says_convention_direction_and_range() -> None:
    lower = {name for name, metric in METRICS.items() if not metric.higher_is_better}
    assert lower == {name for name in METRICS if name.startswith(("fad_", "fd_", "kl_"))}
    for name, metric in METRICS.items():
        assert metric.name == name
        assert metric.role in ENCODER_ROLES
        if metric.rate_hz:
            assert f"{metric.role}_{metric.rate_hz // 1000}k" in name
    # The label bridge is no CLAP.
    assert not any(
        "clap" in n for n, metric in METRICS.items() if not ENCODER_ROLES[metric.role].option
    )


def test_each_metric_is_its_formula() -> None:
    pairs = heard(40, shift=0.5)
    found = summarise(TAGGER, pairs) | summarise(CLAP, pairs)
    rows = list(pairs.values())

    original, edited, text = (
        np.stack(parts)
        for parts in (
            [row.original.embedding for row in rows],
            [row.edited.embedding for row in rows],
            [row.target_text for row in rows],
        )
    )

    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        both = np.linalg.norm(x, axis=1) * np.linalg.norm(y, axis=1)
        return float(100 * ((x * y).sum(axis=1) / both).mean())

    assert value(found, "clap_score") == pytest.approx(cosine(text, edited), rel=1e-6)
    assert value(found, "clap_audio_audio") == pytest.approx(cosine(original, edited), rel=1e-6)
    bridge = summarise([METRICS["label_bridge_score"]], pairs)
    expected = (text * edited).sum(axis=1).mean()
    assert value(bridge, "label_bridge_score") == pytest.approx(expected, rel=1e-6)
    for place, axis in enumerate(("pq", "pc", "ce", "cu")):
        rated = summarise([METRICS[f"audiobox_{axis}"]], pairs)[f"audiobox_{axis}"].value
        assert rated == pytest.approx(edited[:, place].mean(), rel=1e-6)

    p, q = (
        softmax([getattr(row, side).frames["logits"][0] for row in rows], axis=1)
        for side in ("original", "edited")
    )
    kl = value(found, "kl_softmax_ref_gen_yamnet_16k")
    assert kl == pytest.approx(entropy(p, q, axis=1).mean(), abs=1e-4)
    deal = Deal(Unit(id, id, id) for id in pairs)
    splits = []
    for split in range(GROUPS):
        part = q[[deal(Unit(id, id, id)).split == split for id in pairs]]
        splits.append(np.exp(np.mean([entropy(row, part.mean(axis=0)) for row in part])))
    assert value(found, "is_yamnet_16k_splits10") == pytest.approx(np.mean(splits), rel=1e-6)

    frames = [
        np.concatenate([getattr(row, side).frames["patch"] for row in rows])
        for side in ("original", "edited")
    ]
    for name, arrays in (("fad", frames), ("fd", [original, edited])):
        means, covariances = zip(*((x.mean(0), np.cov(x.T)) for x in arrays), strict=True)
        eigenvalues = np.linalg.eigvals(covariances[0] @ covariances[1])
        traces = (
            sum(map(np.trace, covariances)) - 2 * np.sqrt(eigenvalues.astype(complex)).real.sum()
        )
        expected = np.square(means[0].astype(float) - means[1]).sum() + traces
        assert value(found, f"{name}_yamnet_16k") == pytest.approx(expected, rel=2e-3)


def test_the_order_of_pairs_does_not_matter() -> None:
    pairs = heard(33)
    found = summarise(TAGGER, pairs)
    for name, other in summarise(TAGGER, dict(reversed(pairs.items()))).items():
        assert other.value == pytest.approx(found[name].value, rel=1e-9)
        assert other.interval == pytest.approx(found[name].interval, rel=1e-9)
    assert summarise(TAGGER, pairs) == found  # two runs
    seeded = summarise(TAGGER, pairs, seed=1)
    assert seeded["is_yamnet_16k_splits10"] != found["is_yamnet_16k_splits10"]
    assert value(seeded, "fad_yamnet_16k") == pytest.approx(value(found, "fad_yamnet_16k"))


def test_processes_that_share_the_pairs_come_to_the_same() -> None:
    pairs = heard(33)
    deal, found = Deal(Unit(id, id, id) for id in pairs), summarise(TAGGER, pairs)
    shares = [Accumulation(TAGGER) for _ in range(3)]
    for number, (id, row) in enumerate(pairs.items()):
        shares[number % 3].update(deal(Unit(id, id, id)), row)
    whole = Accumulation(TAGGER)
    for share in shares:
        whole.merge(*pickle.loads(pickle.dumps((share.states, share.sizes))))
    for name, other in whole.values().items():
        assert other.value == pytest.approx(found[name].value, rel=1e-9)
        assert other.pairs == 33


def test_the_extrapolation_is_nearer_to_the_truth() -> None:
    """Of one distribution the distance is bias alone, which falls with N."""
    fads, infinite = [], []
    for count in (20, 80, 320):
        found = summarise(TAGGER, heard(count))
        fads.append(value(found, "fad_yamnet_16k"))
        infinite.append(value(found, "fad_inf_yamnet_16k"))
        low, high = found["fad_inf_yamnet_16k"].interval  # type: ignore[misc]
        assert low < infinite[-1] < high
    assert fads == sorted(fads, reverse=True)
    assert all(abs(x) < fad / 2 for x, fad in zip(infinite, fads, strict=True))


def test_an_inception_score_is_that_of_the_clips_whose_edits_they_may_be() -> None:
    """Twelve edits each of forty sounds, alike: what few sounds are in a split is no matter of how
    many originals they share, and the interval is."""
    metric = METRICS["is_yamnet_16k_splits10"]
    rng = np.random.default_rng(3)
    sounds = np.repeat(8 * np.eye(40), 12, axis=0) + rng.normal(0, 0.5, (480, 40))
    nothing = np.zeros(0, np.float32)
    clips = [AudioFeatures(nothing, {"logits": x[None]}) for x in sounds]
    pairs = {f"{n}": Heard(clip, clip, nothing, 0) for n, clip in enumerate(clips)}
    shared = {f"{n}": Unit(f"{n}", f"source {n // 12}", f"{n}") for n in range(480)}
    (alone,) = summarise([metric], pairs).values()
    (together,) = summarise([metric], pairs, units=shared).values()
    assert together.value == pytest.approx(alone.value, rel=1e-9)
    assert alone.value == pytest.approx(inception_score(sounds), rel=0.1)
    widths = [np.diff(found.interval).item() for found in (alone, together)]  # type: ignore[arg-type]
    assert widths[1] > 1.3 * widths[0]


@pytest.mark.parametrize("count", [0, 1, 9])
def test_too_few_pairs_are_undefined(count: int) -> None:
    found = summarise(TAGGER, heard(count))
    are = "1 pair is" if count == 1 else f"{count} pairs are"
    few = Undefined(f"{are} too few, 20 are needed")
    assert found["is_yamnet_16k_splits10"] == (few, few, count)
    few = Undefined(f"{are} too few, 10 are needed")
    assert found["fad_inf_yamnet_16k"] == (few, few, count)
    for measured in found.values():
        assert measured.pairs == count
        assert isinstance(measured.interval, Undefined)
    fd = found["fd_yamnet_16k"].value
    rows = "1 row" if count == 1 else f"{count} rows"
    assert fd == Undefined(f"{rows}; a covariance needs 2") if count < 2 else fd > 0  # type: ignore[operator]
    kl = found["kl_softmax_ref_gen_yamnet_16k"].value
    assert isinstance(kl, float) if count else kl == Undefined("no pairs")


def test_ten_pairs_are_enough_and_twenty_of_ten_splits() -> None:
    found = summarise(TAGGER + CLAP, heard(10))
    assert isinstance(found.pop("is_yamnet_16k_splits10").value, Undefined)
    twenty = summarise([METRICS["is_yamnet_16k_splits10"]], heard(20))
    for name, metric in {**found, **twenty}.items():
        assert isinstance(metric.value, float), name
        low, high = metric.interval  # type: ignore[misc]
        assert METRICS[name].low is None or low >= METRICS[name].low  # type: ignore[operator]
        assert low <= high


def test_intervals_end_where_values_do() -> None:
    same = {id: row._replace(edited=row.original) for id, row in heard(10).items()}
    few = {**heard(2, shift=3), **dict(list(same.items())[2:])}
    low, high = summarise(TAGGER, few)["fad_yamnet_16k"].interval  # type: ignore[misc]
    assert low == 0 < high
    kl = "kl_softmax_ref_gen_yamnet_16k"
    low, high = summarise(TAGGER, few)[kl].interval  # type: ignore[misc]
    assert low == METRICS[kl].low == pytest.approx(0, abs=1e-3)
    assert high > 0.1
    spread = heard(10, shift=-1)
    low, high = summarise([METRICS["audiobox_pq"]], spread)["audiobox_pq"].interval  # type: ignore[misc]
    assert low == 1


def test_values_are_the_same_without_intervals() -> None:
    found, quick = summarise(TAGGER, heard(20)), summarise(TAGGER, heard(20), intervals=False)
    for name, measured in quick.items():
        assert measured == found[name]._replace(interval=Undefined("not asked for"))


def test_edits_that_are_the_originals_are_at_no_distance() -> None:
    same = {id: row._replace(edited=row.original) for id, row in heard(30).items()}
    found = summarise(TAGGER, same)
    assert 0 <= value(found, "fad_yamnet_16k") < 1e-9
    assert 0 <= value(found, "fd_yamnet_16k") < 1e-9
    assert abs(value(found, "fad_inf_yamnet_16k")) < 1e-9
    assert value(summarise(CLAP, same), "clap_audio_audio") == pytest.approx(100)

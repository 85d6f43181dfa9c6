"""What faults of separators, of effects and of voices made anew are, measured on scenes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processors_at_hand import AtHand

from auditeval.data.simulation.edits import render
from auditeval.data.simulation.faults import FAULTS
from auditeval.data.simulation.faults.fault import Dose
from auditeval.data.simulation.material import Material
from auditeval.data.simulation.processors import Processors
from auditeval.data.simulation.scenes import Scene, make_scene
from auditeval.data.simulation.signals import RATE_HZ, active_rms
from auditeval.features.extractors.spectrum import Spectrum, log_mel


@pytest.fixture(scope="module")
def scenes() -> list[Scene]:
    material = Material({}, processors=AtHand())
    return [make_scene(material, 0, (2.0, 2.0), np.random.default_rng([3, s])) for s in range(24)]


def edited(scene: Scene, operation: str, seed: int = 0, **faults: float) -> np.ndarray:
    doses = {name: Dose(severity) for name, severity in faults.items()}
    return render(scene, operation, doses, np.random.default_rng(seed))[0]


def db(x: np.ndarray, beside: np.ndarray) -> float:
    return 20 * float(np.log10(active_rms(x) / active_rms(beside)))


def distance(x: np.ndarray, y: np.ndarray) -> float:
    one, other = (log_mel(np.float32(z), *Spectrum.RESOLUTIONS[0]) for z in (x, y))
    floor = max(one.max(), other.max()) - 60
    return float(np.sqrt(np.mean((np.maximum(one, floor) - np.maximum(other, floor)) ** 2)))


def one_of_each(scenes: list[Scene]) -> list[Scene]:
    """Of mixtures and of others, talkers and none."""
    kinds = {(scene.is_mixture, scene.is_speech): scene for scene in scenes}
    assert len(kinds) == 4
    return list(kinds.values())


@pytest.mark.parametrize("severity", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("fault", ["separation_artefacts", "separation_loss"])
def test_what_a_separator_adds_and_takes_is_at_its_level_below_the_kept_sound(
    scenes: list[Scene], fault: str, severity: float
) -> None:
    for scene in one_of_each(scenes):
        for operation in ("add", "delete", "process"):
            clean, made = edited(scene, operation), edited(scene, operation, **{fault: severity})
            if np.abs(made).max() > 0.98:
                continue  # brought below full scale as a whole
            below = -db(made - clean, scene.background)
            assert below == pytest.approx(FAULTS[fault].amount(severity), abs=0.1)


@pytest.mark.parametrize("severity", [0.2, 0.6, 1.0])
def test_what_leaks_is_of_the_sound_that_was_to_go_at_its_level(
    scenes: list[Scene], severity: float
) -> None:
    for scene in one_of_each(scenes):
        event = scene.events["B"]
        made = edited(scene, "delete", separation_leakage=severity) - edited(scene, "delete")
        down = -db(made, event.samples)
        assert down == pytest.approx(FAULTS["separation_leakage"].amount(severity), abs=0.1)
        start, stop = event.span
        outside = made.copy()
        outside[max(0, start - 8000) : stop + 8000] = 0
        assert np.abs(outside).max() <= 0.05 * np.abs(made).max()  # a quarter second of smearing


def test_real_networks_are_among_those_that_separate_speech_and_nothing_else(
    scenes: list[Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []
    run = Processors.run

    def noting(self: Processors, name: str, *rest: Any, **named: Any) -> np.ndarray:
        ran.append(name)
        return run(self, name, *rest, **named)

    monkeypatch.setattr(Processors, "run", noting)
    talker = next(scene for scene in scenes if scene.is_speech)
    for seed in range(12):
        edited(talker, "process", seed, separation_artefacts=0.5)
    assert {"dtln", "gtcrn"} == set(ran)
    assert 2 <= len(ran) <= 10
    ran.clear()
    sound = next(scene for scene in scenes if not scene.is_speech)
    for seed in range(12):
        edited(sound, "process", seed, separation_artefacts=0.5)
    assert not ran


def test_an_effect_is_there_without_a_fault_and_gone_anew_or_of_another_strength_with(
    scenes: list[Scene],
) -> None:
    treated = [scene for scene in scenes if "effect" in scene.offers]
    assert len(treated) >= 3
    for scene in treated:
        dry = scene.treated(0.0, 0)
        np.testing.assert_allclose(edited(scene, "process", effect_missing=1.0), dry, atol=1e-5)
        assert distance(edited(scene, "process"), dry) > 0.3
        anew = edited(scene, "process", effect_anew=1.0)
        assert not np.allclose(anew, scene.background)
        assert db(anew, scene.background) == pytest.approx(0, abs=0.1)
    untreated = next(scene for scene in scenes if "effect" not in scene.offers)
    assert not FAULTS["effect_missing"].can_befall(untreated, "process")


def test_an_effect_further_off_in_strength_sounds_further_off(scenes: list[Scene]) -> None:
    """Of one make: what another adds is the same for all strengths."""
    treated = [scene for scene in scenes if "effect" in scene.offers]
    for way in (1, -1):
        for scene in treated:
            same = scene.treated(1.0, 5)
            off = [distance(scene.treated(2.0 ** (way * o), 5), same) for o in (0.3, 1.0, 2.3)]
            assert off[0] < off[1] < off[2]


def test_words_spoken_anew_are_the_talkers_spare_at_its_level(scenes: list[Scene]) -> None:
    for scene in [scene for scene in scenes if scene.is_speech][:2]:
        made = edited(scene, "process", speech_respoken=1.0)
        np.testing.assert_allclose(made, scene.spare("reading"), atol=1e-5)
        assert distance(made, scene.background) > 1.0


def test_a_recording_of_the_same_sentence_is_the_reading(shared_data: Path) -> None:
    """With EMO-DB no vocoder is needed: another take, or talker, of the pool says the same."""
    material = Material({"emodb": shared_data / "emodb_subset"}, pools=1)
    found = 0
    for seed in range(12):
        scene = make_scene(material, 0, (2.0, 2.0), np.random.default_rng([4, seed]))
        if "reading" not in scene.offers:
            continue
        found += 1
        assert scene.is_speech
        reading = scene.spare("reading")
        assert reading.shape == scene.background.shape
        size = 2 * len(reading)
        spectra = (np.fft.rfft(x / np.linalg.norm(x), size) for x in (reading, scene.background))
        one, other = spectra
        assert np.abs(np.fft.irfft(np.conj(one) * other, size)).max() < 0.7  # no copy of it
    assert found >= 2


@pytest.mark.parametrize("severity", [0.0, 0.4, 1.0])
def test_a_coder_runs_at_the_rate_of_the_severity(
    scenes: list[Scene], severity: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[str, tuple[float, ...]]] = []

    def noting(
        self: Processors, name: str, x: np.ndarray, *rest: float, **named: Any
    ) -> np.ndarray:
        given.append((name, rest))
        return x

    monkeypatch.setattr(Processors, "run", noting)
    edited(scenes[0], "add", neural_codec=severity)
    edited(scenes[0], "add", neural_decoder=1.0)
    kbits = FAULTS["neural_codec"].amount(severity)
    assert kbits == 9.2 or severity > 0
    assert given == [("lyra", (kbits,)), ("lyra", ())]
    assert len(scenes[0].background) == 2 * RATE_HZ

"""The regressor is the official model's last hidden state and a head, however it is fed."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from auditeval import audio
from auditeval.features.encoder import Encoder
from auditeval.features.extractors.qwen_omni import OmniExtractor
from auditeval.features.store import Failure, FeatureStore
from auditeval.models.omni.inputs import Batch, PairRow
from auditeval.models.omni.random_base import build
from auditeval.models.omni.regressor import OmniRegressor
from auditeval.pretrained.qwen_omni import open_base
from auditeval.training.lora import checkpoint_activations
from auditeval.types import AXES, EditPair, UserError


def make(tiny_omni: Path, **changes: Any) -> OmniRegressor:
    """With LoRA that does something: as it starts, B is 0."""
    torch.manual_seed(3)
    model = OmniRegressor(str(tiny_omni), **{"dtype": "float32", **changes})
    for name, parameter in model.named_parameters():
        if ".lora_B." in name:
            nn.init.normal_(parameter, std=0.1)
    return model.eval()


@pytest.fixture(scope="module")
def store(tiny_omni: Path, cache_dir: Path) -> FeatureStore:
    return FeatureStore(Encoder([OmniExtractor(str(tiny_omni))]), cache_dir)


@pytest.fixture(scope="module")
def pairs(simulated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> list[EditPair]:
    """Six pairs whose clips have different lengths."""
    import soundfile

    folder = tmp_path_factory.mktemp("lengths")
    made = []
    for number, pair in enumerate(simulated[:6]):
        paths = {}
        for side in ("original", "edited"):
            wave = audio.decode(getattr(pair, side))
            stop = len(wave.samples) * (6 - number) // 6 - 1000 * (side == "edited")
            paths[side] = folder / f"{number}-{side}.wav"
            soundfile.write(paths[side], wave.samples[:stop], wave.rate_hz)
        made.append(pair.model_copy(update=paths))
    return made


@pytest.fixture(scope="module")
def rows(tiny_omni: Path, store: FeatureStore, pairs: list[EditPair]) -> list[PairRow]:
    return looked(make(tiny_omni), store, pairs)


def looked(model: OmniRegressor, store: FeatureStore, pairs: list[EditPair]) -> list[PairRow]:
    rows = model.look(store, pairs)
    return [row for row in rows if isinstance(row, PairRow)]


def near(left: torch.Tensor, right: torch.Tensor) -> bool:
    return float((left - right).abs().max()) <= 1e-5


def test_it_is_the_official_model_with_peft_and_a_head(
    tiny_omni: Path, pairs: list[EditPair], rows: list[PairRow]
) -> None:
    """The whole official path: clips filled to 300 s, tower in the pass, positions of its own."""
    pytest.importorskip("transformers", minversion="5.21")  # before, its parts had other names
    from peft import LoraConfig, inject_adapter_in_model
    from transformers import Qwen2_5OmniThinkerForConditionalGeneration

    model = make(tiny_omni)
    thinker = Qwen2_5OmniThinkerForConditionalGeneration.from_pretrained(
        tiny_omni, dtype=torch.float32
    ).eval()
    language_model = thinker.model.language_model
    targets = r".*\.(q_proj|k_proj|v_proj|o_proj|gate_proj|up_proj|down_proj)"
    inject_adapter_in_model(LoraConfig(r=8, lora_alpha=32, target_modules=targets), language_model)
    lora = {
        key.removeprefix("language_model."): tensor
        for key, tensor in model.state_dict().items()
        if key.startswith("language_model.")
    }
    left_over = language_model.load_state_dict(lora, strict=False).unexpected_keys
    assert len(lora) == 2 * 7 * 2
    assert not left_over
    front_end = open_base(str(tiny_omni)).front_end()
    for pair, row in zip(pairs[:3], rows, strict=False):
        clips = [audio.resample(audio.decode(p), 16000) for p in (pair.original, pair.edited)]
        mel = front_end(clips, sampling_rate=16000, return_attention_mask=True, return_tensors="pt")
        with torch.inference_mode():
            official = thinker.model(
                input_ids=torch.from_numpy(row.ids)[None],
                attention_mask=torch.ones(1, len(row.ids), dtype=torch.long),
                input_features=mel["input_features"],
                feature_attention_mask=mel["attention_mask"],
            ).last_hidden_state[:, -1]
            expected = model.heads["scores"](official)
        assert near(model.predict([row]), expected)


@pytest.mark.parametrize("order", ["audio_first", "text_first"])
@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_neighbours_and_filling_change_nothing(
    tiny_omni: Path, store: FeatureStore, pairs: list[EditPair], order: str, head: str
) -> None:
    model = make(tiny_omni, order=order, head=head, hidden=[8])
    rows = looked(model, store, pairs)
    assert len({len(row.ids) for row in rows}) > 3
    together = model.predict(rows)
    assert float(together.std(dim=0).min()) > 1e-4  # pairs differ: the test can fail
    assert near(torch.cat([model.predict([row]) for row in rows]), together)
    assert near(model.predict(rows[::-1]).flip(0), together)
    with torch.inference_mode():
        assert near(model(Batch.stack(rows)), together)  # the prefix is read anew here


def test_padding_on_either_side_is_the_same(tiny_omni: Path, rows: list[PairRow]) -> None:
    model, right = make(tiny_omni), Batch.stack(rows)
    left = Batch(right.ids.clone(), right.mask.clone(), right.audio)
    for index, row in enumerate(rows):
        shift = right.ids.shape[1] - len(row.ids)
        left.ids[index] = right.ids[index].roll(shift)
        left.mask[index] = right.mask[index].roll(shift)
    with torch.inference_mode():
        assert near(model(left), model(right))


def test_cached_audio_tokens_are_fresh_ones(
    tiny_omni: Path, pairs: list[EditPair], tmp_path: Path
) -> None:
    model, store = make(tiny_omni), FeatureStore(Encoder([OmniExtractor(str(tiny_omni))]), tmp_path)
    fresh = model.predict(looked(model, store, pairs))
    encoded = store.misses
    assert encoded > 0
    assert torch.equal(model.predict(looked(model, store, pairs)), fresh)
    assert store.misses == encoded


def test_the_two_clips_are_told_apart(
    tiny_omni: Path, store: FeatureStore, pairs: list[EditPair]
) -> None:
    model = make(tiny_omni)
    swapped = [
        pair.model_copy(update={"original": pair.edited, "edited": pair.original}) for pair in pairs
    ]
    there, back = (model.predict(looked(model, store, which)) for which in (pairs, swapped))
    assert float((there - back).abs().amax(dim=1).min()) > 1e-4


def test_captions_count(tiny_omni: Path, store: FeatureStore, pairs: list[EditPair]) -> None:
    model = make(tiny_omni)
    other = [pair.model_copy(update={"target_caption": "A cat meows."}) for pair in pairs]
    there, then = (model.predict(looked(model, store, which)) for which in (pairs, other))
    assert float((there - then).abs().amax(dim=1).min()) > 1e-4


def test_only_lora_and_heads_are_trained(tiny_omni: Path, rows: list[PairRow]) -> None:
    model = make(tiny_omni, dropout=0.1).train()
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    trained = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=1e-2)
    for _ in range(2):  # in the first step the gradient of every lora_A is small, never all of it 0
        model(Batch.stack(rows[:3])).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    changed = {n for n, p in model.named_parameters() if not torch.equal(p, before[n])}
    assert changed == {n for n in before if ".lora_" in n or n.startswith("heads.")}
    assert len(changed) == 2 * 7 * 2 + 1
    assert {str(key) for key in model.state_dict()} == {*changed, "trained"}


def test_gradient_checkpointing_gives_the_same_gradients(
    tiny_omni: Path, rows: list[PairRow]
) -> None:
    gradients = []
    for kept in (False, True):
        model = make(tiny_omni).train()
        if kept:
            checkpoint_activations(model.language_model, True)
        model(Batch.stack(rows[:2])).square().mean().backward()
        gradients.append([p.grad for p in model.parameters() if p.requires_grad])
    for plain, recomputed in zip(*gradients, strict=True):
        assert plain is not None
        assert torch.equal(plain, recomputed)  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["audio_first", "text_first"])
def test_merged_is_the_same(
    tiny_omni: Path, store: FeatureStore, pairs: list[EditPair], order: str
) -> None:
    model = make(tiny_omni, order=order)
    rows = looked(model, store, pairs)
    before = model.predict(rows)
    unlike = copy.deepcopy(model.language_model.state_dict())
    model.merge()
    assert near(model.predict(rows), before)
    now = model.language_model.state_dict()
    assert any(not torch.equal(now[key], unlike[key]) for key in now if "base_layer" in key)


def test_the_prefix_is_read_once_and_again_after_training(
    tiny_omni: Path, store: FeatureStore, pairs: list[EditPair], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = make(tiny_omni, order="text_first")
    rows = looked(model, store, pairs)
    reads = []
    read = model._read_prefix
    monkeypatch.setattr(model, "_read_prefix", lambda: reads.append(1) or read())
    first = model.predict(rows)
    model.predict(rows)
    assert len(reads) == 1
    for name, parameter in model.named_parameters():
        if ".lora_B." in name:
            parameter.data += 0.1
    model.train().eval()
    then = model.predict(rows)
    assert len(reads) == 2
    with torch.inference_mode():
        assert near(then, model(Batch.stack(rows)))
    assert not near(then, first)


def test_a_missing_placeholder_is_an_error_in_forward_too(
    tiny_omni: Path, rows: list[PairRow]
) -> None:
    batch = Batch.stack(rows[:1])
    with pytest.raises(ValueError, match="audio placeholders for"):
        make(tiny_omni)(batch._replace(audio=batch.audio[:-1]))


def test_what_cannot_be_read_says_why(
    tiny_omni: Path, store: FeatureStore, pairs: list[EditPair], tmp_path: Path
) -> None:
    import soundfile

    short = tmp_path / "short.wav"
    soundfile.write(short, np.full(320, 0.1), 16000)
    wrong = [
        pairs[0].model_copy(update={"edited": short}),
        pairs[1].model_copy(update={"original": tmp_path / "none.wav"}),
        pairs[2].model_copy(update={"target_caption": "x" * 9000}),
    ]
    made = make(tiny_omni).look(store, [*wrong, pairs[3]])
    reasons = [row.reason for row in made if isinstance(row, Failure)]
    assert len(reasons) == 3
    assert "short.wav" in reasons[0]
    assert "at least 50 ms are needed" in reasons[0]  # sooner than the tower would complain
    assert "none.wav" in reasons[1]
    assert "tokens long" in reasons[2]
    assert isinstance(made[3], PairRow)


def test_mlp_heads_start_at_the_mean_rating(tiny_omni: Path) -> None:
    model = make(tiny_omni, head="mlp", hidden=[8])
    nan = float("nan")
    model.prepare(torch.tensor([[2.0, 3.0, nan], [3.0, 5.0, nan], [4.0, nan, 1.0]]))
    assert model.trained.tolist() == [True, True, False]
    biases = [model.heads[axis][-1].bias.item() for axis in AXES]  # type: ignore[index, union-attr]
    assert biases == [3.0, 4.0, 1.0]


def test_mlp_heads_see_states_on_one_scale(tiny_omni: Path, rows: list[PairRow]) -> None:
    model = make(tiny_omni, head="mlp", hidden=[])  # of no hidden layer: rating = weights @ state
    model.fit_scales(rows)
    first = nn.Linear(model.language_model.config.hidden_size, 1)
    model.heads["quality"] = nn.Sequential(first)
    seen = []
    for row in torch.eye(first.in_features):
        first.weight.data = row[None]
        seen.append(model.predict(rows)[:, 0] - first.bias.item())
    states = torch.stack(seen)
    mean, spread = states.mean(dim=1), states.std(dim=1, correction=0)
    assert near(mean, torch.zeros_like(mean))
    assert near(spread, torch.ones_like(spread))


def test_another_base_is_refused(tiny_omni: Path, tmp_path: Path) -> None:
    model = make(tiny_omni)
    other = shutil.copytree(tiny_omni, tmp_path / "other")
    assert OmniRegressor(**{**model.arguments, "base": str(other)}).arguments["base"] == str(other)
    weights = load_file(other / "model.safetensors")
    weights["thinker.model.norm.weight"] *= 1.01
    save_file(weights, other / "model.safetensors", {"format": "pt"})
    with pytest.raises(UserError, match="it is another base, or the same one trained further"):
        OmniRegressor(**{**model.arguments, "base": str(other)})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"dtype": "int8"}, "dtype 'int8' is none of"),
        ({"head": "tree"}, "head 'tree' is none of linear, mlp"),
        ({"order": "mixed"}, "order 'mixed' is none of"),
    ],
)
def test_wrong_settings(tiny_omni: Path, change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        make(tiny_omni, **change)


def test_four_bits_without_bitsandbytes(tiny_omni: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "bitsandbytes" else find(name)
    )
    with pytest.raises(UserError, match=r"pip install -c constraints\.txt '\.\[bitsandbytes\]'"):
        make(tiny_omni, load_in_4bit=True)


def test_four_bits_train_and_load_again(pairs: list[EditPair], tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    base = str(build(tmp_path / "base", hidden=64, vocabulary="trained"))  # 32 is below its blocks
    torch.manual_seed(3)
    model = OmniRegressor(base, dtype="float32", load_in_4bit=True).train()
    rows = looked(model, FeatureStore(Encoder([OmniExtractor(base)]), tmp_path / "cache"), pairs)
    kinds = {type(module).__name__ for module in model.language_model.modules()}
    assert "Linear4bit" in kinds
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    errors = []
    for _ in range(6):
        error = (model(Batch.stack(rows)) - 3).square().mean()
        error.backward()
        optimizer.step()
        optimizer.zero_grad()
        errors.append(error.item())
    assert errors[-1] < 0.5 * errors[0]
    again = OmniRegressor(**model.arguments)
    again.load_state_dict(model.state_dict())
    assert torch.equal(again.eval().predict(rows), model.eval().predict(rows))
    with pytest.raises(UserError, match="a base in 4 bits cannot be merged"):
        model.merge()


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_rough_base_has_exact_lora_and_heads(
    tiny_omni: Path, rows: list[PairRow], dtype: str
) -> None:
    exact, rough = make(tiny_omni), make(tiny_omni, dtype=dtype)
    for parameter in rough.parameters():
        kept = torch.float32 if parameter.requires_grad else getattr(torch, dtype)
        assert parameter.dtype == kept
    rough.load_state_dict(exact.state_dict())
    scores = rough.predict(rows)
    assert scores.dtype == torch.float32
    far = float((scores - exact.predict(rows)).abs().max())
    assert 0 < far < 0.1
    rough.merge()
    assert float((rough.predict(rows) - scores).abs().max()) < 0.1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rank": -1}, "rank -1: expected a whole number"),
        ({"rank": "x"}, "rank 'x': expected a whole number"),
        ({"alpha": 0}, "alpha 0: expected a number above 0"),
        ({"dropout": 2}, "dropout 2: expected a number from 0"),
        ({"hidden": [0]}, r"hidden \[0\]: expected whole numbers"),
        ({"hidden": ["a"]}, r"hidden \['a'\]: expected whole numbers"),
        ({"max_tokens": None}, "max_tokens None: expected a whole number"),
        ({"dtype": []}, r"dtype \[\] is none of"),
    ],
)
def test_numbers_that_make_no_sense(tiny_omni: Path, change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        OmniRegressor(str(tiny_omni), **change)


def test_what_was_loaded_counts_for_the_prefix_too(
    tiny_omni: Path, store: FeatureStore, pairs: list[EditPair]
) -> None:
    model, other = make(tiny_omni, order="text_first"), make(tiny_omni, order="text_first")
    for name, parameter in other.named_parameters():
        if ".lora_B." in name:
            parameter.data *= -3
    rows = looked(model, store, pairs)
    before = model.predict(rows)
    model.load_state_dict(other.state_dict())
    assert near(model.predict(rows), other.predict(rows))
    assert not near(model.predict(rows), before)

"""What cannot go well is one sentence, and no clip or caption was encoded for it."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir

from auditeval import manifest
from auditeval.features import make_encoder
from auditeval.training import run, wandb_logger
from auditeval.types import EditPair, UserError

ROOT = Path(__file__).parents[2]
QUIET = ["~callbacks.progress", "+trainer.enable_progress_bar=false", "trainer.accelerator=cpu"]
HEADS = ["features=spectrum", "model.rank=0"]
ENSEMBLE = [
    *("features=spectrum", "model=ensemble", "fit=ensemble"),
    *("fit.estimators.extra_trees.n_estimators=3", "fit.estimators.boosting.n_estimators=3"),
]
MADE_ANEW = [*ENSEMBLE[1:], "features=[spectrum,regeneration]"]
CLAP = ["features=clap", "features.clap.model={clap}", "model=concat"]
LORA = [
    *("experiment=auditeval_llm_tiny", "data=manifest", "~base.make", "base.model={omni}"),
    "data.split.test_share=0.3",
]
BRIDGE = "+baselines.bridge={_target_: auditeval.training.baselines.joint_space, _partial_: true"
NO_EPOCHS = "fit.epochs={quality: 0, relevance: 0, faithfulness: 0}"
SALMON = "+callbacks.evaluation.metrics.salmon={features: ${features}, _target_: "
SALMON += "auditeval.training.evaluation.evaluators.SALMonAccuracy"
Attempt = Callable[[list[str]], None]


class EncodedError(Exception):
    """The encoder was asked for something."""


@pytest.fixture(scope="module")
def table(partly_rated: list[EditPair], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rehearsal") / "pairs.jsonl"
    manifest.write(partly_rated, path)
    return path


@pytest.fixture
def attempt(
    table: Path, tiny_clap: Path, tiny_omni: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Attempt:
    """Train with these settings; the encoder of the run refuses to encode."""

    def make(features: dict[str, Any]) -> Any:
        made = make_encoder(features)

        def refuse(*_: Any) -> None:
            raise EncodedError

        for extractor in made.extractors.values():
            extractor.encode_audio = extractor.encode_text = refuse  # type: ignore[method-assign]
        return made

    monkeypatch.setattr(run, "make_encoder", make)

    def attempt(overrides: list[str]) -> None:
        settings = [
            *("data=manifest", f"data.path={table}", f"run_dir={tmp_path / 'run'}", "device=cpu"),
            *("compare=none", "resamples=10", "workers=0", f"cache_dir={tmp_path / 'cache'}"),
            *QUIET,
        ]
        for override in overrides:
            placed = override.replace("{clap}", str(tiny_clap)).replace("{omni}", str(tiny_omni))
            settings.append(placed)
        experiment = [s for s in settings if s.startswith("experiment=")]
        with initialize_config_dir(str(ROOT / "configs"), version_base="1.3"):
            run.train(
                compose("train", [*experiment, *(s for s in settings if s not in experiment)])
            )

    return attempt


@pytest.mark.parametrize(
    "overrides",
    [
        HEADS,
        ENSEMBLE,
        LORA,
        [*CLAP, "baselines=clap"],
        [*HEADS, "baselines=speech"],
        [*HEADS, "callbacks=evaluation"],
        [*HEADS, "scheduler=cosine", "optimizer=adam", "+trainer.gradient_clip_val=0"],
        ["features=spectrum", "model.rank=0", "fit=ensemble", "compare=members"],
        [*ENSEMBLE, "model.kinds=[ridge]", NO_EPOCHS],
        [*LORA, "callbacks=evaluation", "data.split.validation_share=0.2"],
        [*LORA, "callbacks=kept", "~data_quality.events", "data.split.validation_share=0.2"],
        [*LORA, "baselines=speech"],
    ],
    ids=" ".join,
)
def test_what_goes_together_comes_to_the_encoder(overrides: list[str], attempt: Attempt) -> None:
    if "baselines=speech" in overrides:
        pytest.importorskip("pesq")
    with pytest.raises(EncodedError):
        attempt(overrides)


@pytest.mark.parametrize(
    ("overrides", "sentence"),
    [
        # Before the data, which can take minutes to make.
        ([*HEADS, "data.path=absent.jsonl", "device=x"], "device 'x': expected auto, cpu, cuda"),
        ([*HEADS, "data.path=absent.jsonl", "name=../x"], "name '../x': expected the name of a fo"),
        ([*HEADS, "data.path=absent.jsonl", "name=3"], "name 3: expected the name of a folder in "),
        ([*HEADS, "data.path=absent.jsonl", "run_dir=''"], "run_dir '': expected a text"),
        ([*HEADS, "data.ratings_from=null"], "data.ratings_from None: expected a text"),
        ([*HEADS, "data.split.seed=x"], "data.split.seed 'x': expected a whole number"),
        ([*HEADS, "data.path=absent.jsonl", "~model.name"], "model.name is missing; see configs/"),
        (
            [*HEADS, "data.path=absent.jsonl", "model.rank=null"],
            "model.rank None: expected a ",
        ),
        # Models and the encoder.
        ([*HEADS, "features.spectrum=3"], "features.spectrum=3: expected its arguments by name"),
        (["features=spectrum"], "cannot be made for encoder spectrum (rank > 0 compares sound wi"),
        ([*HEADS, "compare=members"], "model 'ensemble' is not trained by fit=heads; see fit=lora"),
        ([*HEADS, "+compare.x={name: pairwise, rank: 4}"], "the encoder has no words"),
        (
            [*HEADS, "name=concat", "compare=concat"],
            "name=concat: a model of compare has this name; give another",
        ),
        ([*HEADS, "model.name=tree"], "no model is called 'tree'; known: concat, ensemble, pairw"),
        ([*HEADS, "+model.size=3"], "got an unexpected keyword argument 'size'"),
        ([*HEADS, "model.members=0"], "model 'pairwise' cannot be made with its settings"),
        ([*HEADS, "model.hidden=[-4]"], "Trying to create tensor with negative dimension -4"),
        ([*HEADS, "model.dropout=2"], "dropout probability has to be between 0 and 1, but got 2"),
        (
            ["features=words", "model=ensemble", "fit=ensemble"],
            "compares frames, and the encoder keeps no",
        ),
        (
            [*ENSEMBLE, "model.of_removals=[part]"],
            "of_removals: the encoder has no numbers of ",
        ),
        (
            [*ENSEMBLE, "model.of_removals=[spectrum]"],
            "of_removals: counts with model.by_removal=t",
        ),
        ([*MADE_ANEW, "model.framewise=[spektrum]"], "of spektrum (near it: spectrum)"),
        (
            [*ENSEMBLE, "+model.deaf.quality=[spectrum.lauder]"],
            "spectrum.lauder (near it: spectru",
        ),
        (
            [*ENSEMBLE, "+fit.estimators.bosting=${fit.estimators.boosting}"],
            "fit.estimators: no member is called bosting (near it: boosting)",
        ),
        ([*ENSEMBLE, "model.kinds=[ridge, oracle]"], "expected some of ridge, extra_trees"),
        ([*ENSEMBLE, "~fit.estimators.boosting"], "fit.estimators: has none for 'boosting'"),
        ([*ENSEMBLE, "fit.estimators.ridge=null"], "fit.estimators.ridge: Cannot clone object 'No"),
        ([*ENSEMBLE, "fit.estimators.ridge.alpha=-1"], "fit.estimators.ridge: The 'alpha'"),
        ([*ENSEMBLE, "+fit.estimators.ridge.strength=1"], "unexpected keyword argument 'strength'"),
        (["features=spectrum", "model=qwen_omni"], "model 'qwen_omni' is not trained by fit=head"),
        # How they are trained.
        ([*HEADS, "optimizer.lr=-1"], "the optimizer cannot be made with its settings (Invalid l"),
        ([*HEADS, "+optimizer.momentum=0.9"], "unexpected keyword argument 'momentum'"),
        ([*HEADS, "optimizer._target_=torch.optim.None"], "Error loading 'torch.optim.None'"),
        ([*HEADS, "scheduler=warmup_cosine"], "use scheduler=plateau or scheduler=cosine"),
        (
            [*HEADS, "scheduler._target_=auditeval"],
            "scheduler (auditeval): Expected a callab",
        ),
        ([*HEADS, "scheduler.factor=2"], "the scheduler cannot be made with its settings (Factor"),
        ([*HEADS, "scheduler.patience=x"], "scheduler.patience 'x': expected a whole number"),
        ([*HEADS, "fit.batch_size=0"], "fit.batch_size 0: expected a whole number above 0"),
        ([*HEADS, NO_EPOCHS], "fit.epochs: is 0 for every axis that is rated; nothing would train"),
        ([*ENSEMBLE, NO_EPOCHS], "fit.epochs: is 0 for every axis that is rated; nothing would tr"),
        ([*HEADS, "fit.epochs.quality=x"], "fit.epochs.quality 'x': expected a whole number"),
        ([*HEADS, "+trainer.colour=red"], "the trainer cannot be made with its settings (Traine"),
        ([*HEADS, "trainer.devices=0"], "the trainer cannot be made (`Trainer(devices=0)`"),
        (
            [*HEADS, "trainer.accelerator=cpu", "trainer.devices=1000"],
            f"trainer.devices=1000: there are {os.cpu_count()} cores here",
        ),
        ([*HEADS, "trainer.accelerator=abacus"], "invalid accelerator name"),
        ([*HEADS, "+trainer.max_epochs=3"], "trainer.max_epochs is set by the run itself"),
        ([*HEADS, "+trainer.gradient_clip_val=1"], "trainer.gradient_clip_val is for fit=lora"),
        ([*HEADS, "+trainer.accumulate_grad_batches=2"], "accumulate_grad_batches is for fit=lora"),
        ([*HEADS, "seed=x"], "seed 'x': expected a whole number from 0 to 2^32 - 1"),
        ([*HEADS, "resamples=x"], "resamples 'x': expected a whole number, 0 at least"),
        ([*HEADS, "name=${nothing}"], "name: Interpolation key 'nothing' not found"),
        ([*HEADS, "data.ratings_from=???"], "data.ratings_from: Missing mandatory value"),
        (
            [*HEADS, "logger.name=x"],
            "logger.name and logger.version: expected neither; metrics.csv",
        ),
        # Baselines.
        ([*HEADS, "baselines=clap"], "'CLAP text-audio' needs one space of sound and words: feat"),
        ([*HEADS, f"{BRIDGE}, dim: 521}}"], "'bridge' needs a joint space of 521 numbers: featur"),
        ([*CLAP, f"{BRIDGE}, dim: 8}}"], "'bridge' needs a joint space of 8 numbers: features=of"),
        ([*HEADS, f"{BRIDGE}}}"], "baseline 'bridge' cannot be made with its settings (joint_spa"),
        ([*LORA, "baselines=clap"], "'CLAP text-audio' needs one space of sound and words: feat"),
        # Callbacks.
        ([*HEADS, "callbacks=kept", "data.split.validation_share=0.0"], "needs a validation part"),
        ([*ENSEMBLE, "callbacks=kept"], "fit=ensemble keeps the validation part of 'pairwise' to"),
        (
            [*HEADS, "callbacks=kept", "+data_quality.x={name: y}"],
            "no metric has an encoder in the ro",
        ),
        ([*HEADS, "callbacks=kept", "+data_quality.cnn14={name: cnn14, checkpoint: c}"], "no such"),
        ([*HEADS, "callbacks=evaluation", "data.split.validation_share=0.0"], "needs a validation"),
        ([*ENSEMBLE, "callbacks=evaluation"], "(agreement) works in validation, and fit=ensemble"),
        ([*HEADS, "callbacks=evaluation", f"{SALMON}, root: /no}}"], "is no folder"),
        # Language models.
        (
            [*LORA, "features=spectrum", "~features.qwen_omni"],
            "fit=lora needs features=qwen_omni, no",
        ),
        ([*LORA, "compare=concat"], "model 'concat' is not trained by fit=lora; see fit=heads"),
        ([*LORA, "+model.size=7"], "model qwen_omni cannot be made with its settings (got an unex"),
        ([*LORA, "model.rank=-1"], "rank -1: expected a whole number, 0 for no LoRA"),
        ([*LORA, "model.order=mixed"], "order 'mixed': expected 'audio_first' or 'text_f"),
        ([*LORA, "scheduler=plateau"], "with fit=lora use scheduler=warmup_cosine or scheduler=w"),
        ([*LORA, "optimizer.lr=-1"], "the optimizer cannot be made with its settings (Invalid le"),
        ([*LORA, "model.base=/no/such"], "/no/such: no such folder"),
        ([*LORA, "+trainer.accumulate_grad_batches=3"], "is set by the run itself"),
        # Loggers.
        ([*HEADS, "+logger.save_dir=x"], "logger.save_dir is set by the run itself: see run_dir"),
        ([*HEADS, "+callbacks.patience=3"], "callbacks.patience 3: expected a node with a _ta"),
        ([*HEADS, "+baselines.clap=1"], "baselines.clap 1: expected a node with a _target_"),
        ([*HEADS, "+logger.colour=red"], "CSVLogger.__init__() got an unexpected keyword argumen"),
    ],
)
def test_what_does_not_go_together_is_said_before_anything_is_encoded(
    overrides: list[str], sentence: str, attempt: Attempt
) -> None:
    with pytest.raises(UserError) as caught:
        attempt(overrides)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "package", "command"),
    [
        ([*HEADS, "logger=wandb", "logger.offline=true"], "wandb", ".[wandb]"),
        ([*HEADS, "baselines=speech"], "pesq", ".[baselines]"),
        ([*LORA, "model.load_in_4bit=true"], "bitsandbytes", ".[bitsandbytes]"),
    ],
)
def test_a_missing_package_comes_with_the_command_that_installs_it(
    overrides: list[str],
    package: str,
    command: str,
    attempt: Attempt,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *more: None if name == package else find(name, *more),
    )
    monkeypatch.setitem(sys.modules, package, None)  # type: ignore[arg-type]
    with pytest.raises(UserError, match=package) as caught:
        attempt(overrides)
    assert f"pip install -c constraints.txt '{command}'" in str(caught.value)


def test_a_refused_run_leaves_no_empty_folder(attempt: Attempt, tmp_path: Path) -> None:
    place = [*HEADS, "data.path=absent.jsonl", f"run_dir={tmp_path / 'runs' / 'first'}"]
    for _ in range(2):
        with pytest.raises(UserError, match=r"absent\.jsonl"):
            attempt(place)
        assert not (tmp_path / "runs").exists()
    (tmp_path / "runs" / "first").mkdir(parents=True)  # by the user
    with pytest.raises(UserError, match=r"absent\.jsonl"):
        attempt(place)
    assert (tmp_path / "runs" / "first").exists()


def test_a_run_folder_that_cannot_be_made_is_said(attempt: Attempt, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("in the way")
    with pytest.raises(UserError, match="run: no run folder can be made there"):
        attempt(HEADS)


@pytest.fixture
def without_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    wandb = pytest.importorskip("wandb")
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    wandb.teardown()  # with it goes what it read of the environment
    wandb_logger._log_in.cache_clear()
    yield
    wandb.teardown()


@pytest.mark.usefixtures("without_account")
def test_wandb_without_an_account_is_said(attempt: Attempt) -> None:
    with pytest.raises(UserError, match=r"^logger=wandb: .*logger\.offline=true needs no account"):
        attempt([*HEADS, "logger=wandb"])

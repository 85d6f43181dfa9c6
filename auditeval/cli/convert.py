"""auditeval convert: published checkpoint files to directories of safetensors and JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auditeval.text import say


def convert(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="An original CLAP file, heads of AuditEval-ssl, or a Qwen2.5-Omni evaluator.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to make.")],
    tokenizer: Annotated[
        str | None,
        typer.Option(
            help="Folder or hub id of the text tokenizer; default: the hub's roberta-base, gpt2 or "
            "bert-base-uncased, whichever the file was trained with."
        ),
    ] = None,
    clap: Annotated[
        str | None,
        typer.Option(help="For heads: the CLAP they were trained on (630k-audioset-best.pt)."),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(help="For Qwen2.5-Omni: the base; default: where it lay in training."),
    ] = None,
) -> None:
    """Convert checkpoints; nothing in them is run, only tensors are read.

    A CLAP of LAION becomes a directory that transformers loads as well, one of Microsoft a
    directory for features.clap.model. Heads of AuditEval-ssl become an evaluator for
    `auditeval score -c`, which hears as the authors' code does (16 kHz fed as 48 kHz).
    A Qwen2.5-Omni evaluator of ms-swift becomes one of ours, one of ours a PEFT adapter.

    Examples:

        auditeval convert 630k-audioset-best.pt -o clap-630k

        auditeval convert CLAP_weights_2023.pth -o msclap-2023 --tokenizer gpt2-folder

        auditeval convert quality_epoch_50.pt relevance_epoch_30.pt faithfulness_epoch_35.pt
        --clap clap-630k -o checkpoints/auditeval-ssl

        auditeval convert runs/llm/auditeval_llm/holdout/checkpoint -o peft-adapter
    """
    from auditeval.outputs import sole_writer
    from auditeval.types import UserError

    with sole_writer(output):
        if output.exists():
            raise UserError(f"{output}: exists already; choose another directory or delete it")
        _convert(files, output, tokenizer, clap, base)


def _convert(
    files: list[Path], output: Path, tokenizer: str | None, clap: str | None, base: str | None
) -> None:
    from auditeval.checkpoint import is_checkpoint
    from auditeval.models.omni.swift import is_swift
    from auditeval.types import UserError

    if len(files) == 1 and (is_checkpoint(files[0]) or is_swift(files[0])):
        if clap is not None or tokenizer is not None:
            raise UserError("--clap and --tokenizer are for files of CLAP and AuditEval-ssl")
        _convert_omni(files[0], base, output)
        return
    if base is not None:
        raise UserError("--base is for a Qwen2.5-Omni evaluator, of which the FILES are none")
    if clap is not None:
        _convert_heads(files, clap, tokenizer, output)
        return
    if len(files) != 1:
        raise UserError(
            "give one CLAP file, or the heads of an evaluator together with the CLAP they were "
            "trained on (--clap)"
        )
    from auditeval.features.clap.load import convert

    made = convert(files[0], output, tokenizer)
    millions = sum(parameter.numel() for parameter in made.parameters()) / 1e6
    say(f"{output}: {type(made).__name__}, {millions:.1f}M parameters, {made.dim} dimensions")
    say(f"use it with: python train.py features=clap features.clap.model={output}")


def _convert_omni(folder: Path, base: str | None, output: Path) -> None:
    from auditeval import checkpoint
    from auditeval.models.omni.export import export_peft
    from auditeval.models.omni.regressor import OmniRegressor
    from auditeval.models.omni.swift import is_swift
    from auditeval.types import UserError

    loaded = checkpoint.load(folder, base)
    if not isinstance(loaded.model, OmniRegressor):
        raise UserError(f"{folder}: is an evaluator on frozen features, and needs no conversion")
    if is_swift(folder):
        checkpoint.save(output, loaded.model, loaded.encoder, loaded.config.training)
        say(f"{output}: use it with: auditeval score -c {output} ...")
    else:
        export_peft(loaded.model, output)
        say(f"{output}: use it with: PeftModel.from_pretrained(thinker, {str(output)!r})")


def _convert_heads(files: list[Path], clap: str, tokenizer: str | None, output: Path) -> None:
    from auditeval import checkpoint
    from auditeval.features import make_encoder
    from auditeval.features.clap import SUPPORTED
    from auditeval.models.upstream import axis_of, from_score_predictors, is_score_predictor
    from auditeval.pretrained.torch_files import read
    from auditeval.types import UserError

    states = {}
    for path in files:
        axis = axis_of(path)
        if axis in states:
            raise UserError(f"{path}: is a second head for {axis}; give one file an axis")
        states[axis] = read(path, SUPPORTED)
        if not is_score_predictor(states[axis]):
            keys = ", ".join(list(states[axis])[:3])
            raise UserError(f"{path}: is no head of AuditEval-ssl, it holds {keys}, ...")
    heard = {"model": clap, "tokenizer": tokenizer, "upstream_compat": True}
    encoder = make_encoder({"clap": heard})
    model = from_score_predictors(states)
    makes, expects = encoder.inputs.audio, model.given.audio
    if makes != expects:
        raise UserError(
            f"{clap}: makes {makes} numbers, the heads expect {expects}; they were trained on "
            "another CLAP"
        )
    names = [path.name for path in files]
    checkpoint.save(output, model, encoder, {"converted_from": names, "ratings_from": "AuditScore"})
    say(f"{output}: {', '.join(states)}; use it with: auditeval score -c {output} ...")

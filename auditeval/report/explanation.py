"""An explained pair as JSON and as a picture: both clips, the change, a curve for each axis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from auditeval import text
from auditeval.atomic import replacing, write_text
from auditeval.explaining import HOP_SECONDS, WINDOW_SECONDS, Explanation, Segment
from auditeval.features.extractors.parts import HOP_SECONDS as HOP_SECONDS_OF_PARTS
from auditeval.features.extractors.spectrum import Spectrum
from auditeval.types import AXES, Axis, Undefined

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN_DB = 70.0
COLOURS: dict[Axis, str] = {"quality": "C0", "relevance": "C1", "faithfulness": "C2"}


def to_json(explanation: Explanation) -> dict[str, Any]:
    """Curves and segments as plain values; an undefined segment is null beside its reason."""

    def plain(segment: Segment | Undefined, curve: np.ndarray) -> dict[str, Any]:
        if isinstance(segment, Undefined):
            return {"segment": None, "undefined": segment.reason, "curve": curve.tolist()}
        return {"segment": segment._asdict(), "curve": curve.tolist()}

    return {
        "id": explanation.pair.id,
        "scores": {axis: explanation.scores.ratings.get(axis) for axis in AXES},
        "window_seconds": WINDOW_SECONDS,
        "hop_seconds": HOP_SECONDS,
        "seconds": explanation.seconds.tolist(),
        "change": plain(explanation.changed, explanation.change),
        "parts": _of_parts(explanation),
        **{
            axis: plain(explanation.lowest[axis], curve)
            for axis, curve in explanation.curves.items()
        },
    }


def _of_parts(explanation: Explanation) -> dict[str, Any] | None:
    """Means over bands, one each `hop_seconds`; null of an evaluator that does not hear them."""
    if explanation.parts is None:
        return None
    every = round(HOP_SECONDS / HOP_SECONDS_OF_PARTS)
    means = {
        name: getattr(explanation.parts, name).mean(axis=1)[::every].round(4).tolist()
        for name in _PARTS
    }
    timing = {
        "start_seconds": explanation.parts.start_seconds,
        "hop_seconds": every * HOP_SECONDS_OF_PARTS,
    }
    return {**timing, **means}


def to_lines(explanation: Explanation) -> list[str]:
    """What a reader wants first: the scores, where they are lowest, and where the clips differ."""
    lines = []
    for axis in AXES:
        value = explanation.scores.ratings.get(axis)
        told = "not trained" if value is None else f"{value:.3f}"
        if axis in explanation.lowest:
            told += _stretch(", lowest", explanation.lowest[axis])
        lines.append(f"{axis:<14}{told}")
    lines.append(f"{'change':<14}" + _stretch("greatest", explanation.changed))
    return lines


_PARTS = {"artefacts": 1.0, "holes": 15.0, "leakage": 34.0}
"""Parts of a change that are drawn, and the value of each that is drawn darkest."""

FILES = ("explanation.json", "explanation.png")


def write(explanation: Explanation, folder: Path, stem: str = "explanation") -> None:
    """`stem`.json and `stem`.png in `folder`."""
    write_text(folder / f"{stem}.json", text.to_json(to_json(explanation)) + "\n")
    figure = plot(explanation)
    with replacing(folder / f"{stem}.png") as temporary:
        figure.savefig(temporary, dpi=100, format="png", metadata={"Software": None})


def plot(explanation: Explanation) -> Figure:
    """Log-mel frames of both clips, the change and the curves, over the time of the edited clip.

    The stretch of the greatest change is shaded; a bar under a curve marks where it is lowest.
    """
    from matplotlib.figure import Figure

    shown = _PARTS if explanation.parts else {}
    figure = Figure(figsize=(8, 7 + 0.8 * len(shown)), layout="constrained")
    heights = (2, 2, 1, 2, *(1 for _ in shown))
    panels = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    loudest = float(max(explanation.original.max(), explanation.edited.max()))
    pair, seconds = explanation.pair, explanation.seconds
    # The original lies where it belongs in the edit.
    starts = explanation.course.before * Spectrum.HOP_SECONDS, 0.0
    turned = ", at the pitch and pace that were asked for" if any(explanation.turn) else ""
    # As scores do: an instruction counts where the captions do not differ.
    differ = pair.original_caption != pair.target_caption
    asked = pair.target_caption if differ else pair.instruction or pair.target_caption
    titles = (
        f"original{turned}: {text.plot(pair.original_caption, 90)}",
        f"edited, asked for: {text.plot(asked, 90)}",
    )
    clips = explanation.original, explanation.edited
    for panel, title, start, frames in zip(panels, titles, starts, clips, strict=False):
        end = start + len(frames) * Spectrum.HOP_SECONDS
        panel.imshow(
            frames.T.astype(np.float32),
            origin="lower",
            aspect="auto",
            cmap="magma",
            vmin=loudest - SHOWN_DB,
            vmax=loudest,
            extent=(start, end, 0, frames.shape[1]),
        )
        panel.set(ylabel="mel band")
        panel.set_title(title, fontsize=9, loc="left")
    panels[2].plot(seconds, explanation.change, color="0.2")
    panels[2].set(ylim=(0, 1), ylabel="change")
    for place, (axis, curve) in enumerate(explanation.curves.items()):
        label = f"{axis} {explanation.scores.ratings[axis]:.2f}"
        panels[3].plot(seconds, curve, color=COLOURS[axis], label=label)
        if isinstance(segment := explanation.lowest[axis], Segment):
            height = 1 + 0.08 * (place + 1)
            ends = segment.start_seconds, segment.end_seconds
            panels[3].plot(ends, (height, height), color=COLOURS[axis], linewidth=3)
    panels[3].set(ylim=(1, 5.05), ylabel="score")
    for panel, (name, most) in zip(panels[4:], shown.items(), strict=True):
        _show_part(panel, name, most, explanation)
    panels[-1].set(xlabel="seconds of the edited clip")
    figure.legend(
        *panels[3].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False
    )
    panels[3].set_xlim(0, len(explanation.edited) * Spectrum.HOP_SECONDS)
    if isinstance(explanation.changed, Segment):
        for panel in panels[1:]:
            panel.axvspan(*explanation.changed[:2], color="tab:red", alpha=0.18, linewidth=0)
    return figure


def _show_part(panel: Axes, name: str, most: float, explanation: Explanation) -> None:
    """By time and band; where the edit is not heard, or the clips share no time, nothing."""
    assert explanation.parts is not None
    cells = getattr(explanation.parts, name)
    start = explanation.parts.start_seconds
    end = start + len(cells) * HOP_SECONDS_OF_PARTS
    panel.imshow(
        cells.T,
        origin="lower",
        aspect="auto",
        cmap="Greys",
        vmin=0,
        vmax=most,
        extent=(start, end, 0, cells.shape[1]),
    )
    panel.set(ylabel=name, yticks=[])


def _stretch(what: str, segment: Segment | Undefined) -> str:
    if isinstance(segment, Undefined):
        return "" if what.startswith(",") else f"none: {segment.reason}"
    start, end, peak, value = segment
    return f"{what} {value:.2f} at {peak:.2f} s ({start:.2f} to {end:.2f} s)"

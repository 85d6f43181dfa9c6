"""Predictions over ratings, and how both are distributed."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from auditeval import text
from auditeval.atomic import replacing
from auditeval.metrics.agreement import on_rating_scale, system_means

if TYPE_CHECKING:
    from auditeval.report.agreement import Report

_BINS = [0.875 + step / 4 for step in range(18)]  # with votes in half points in the middle of one


def plot(report: Report, path: Path) -> None:
    """Of the plotted evaluator, a column an axis: predictions over ratings of pairs, below of the
    means of systems, and below that how both are distributed (beyond the scale: at its ends)."""
    import matplotlib

    matplotlib.use("Agg")
    import numpy as np
    from matplotlib import pyplot

    axes = list(report.points)
    figure, panels = pyplot.subplots(
        3, len(axes), figsize=(3.4 * len(axes), 9.2), squeeze=False, layout="constrained",
        height_ratios=(1, 1, 0.7),
    )  # fmt: skip
    shown = f"{text.shortened(report.plotted)}, against {text.shortened(report.ratings_from, 100)}"
    letters = 34 * len(axes)
    lines = (text.plot(line, letters) for line in wrap(shown, letters))
    figure.suptitle("\n".join(lines))
    for column, axis in enumerate(axes):
        ratings, predicted, systems = zip(*report.points[axis], strict=True)
        panels[0, column].scatter(ratings, predicted, s=9, alpha=0.5, linewidths=0)
        if None not in systems:
            means = [system_means(values, systems) for values in (ratings, predicted)]
            panels[1, column].scatter(*(list(mean.values()) for mean in means), s=18)
            for system in means[0]:
                at = (means[0][system], means[1][system])
                name = panels[1, column].annotate(text.plot(system), at, fontsize=5, alpha=0.7)
                name.set_in_layout(False)  # a long one may stand out of its panel
        on_scale = on_rating_scale(predicted)
        reached = [*predicted, 1, 5] if on_scale else predicted
        margin = 0.025 * (max(reached) - min(reached)) or 0.1
        ends = min(reached) - margin, max(reached) + margin
        for row, level in enumerate(("utterance", "system")):
            panel = panels[row, column]
            panel.set(xlim=(0.9, 5.1), xticks=range(1, 6), ylim=ends)
            panel.set(title=f"{axis}, {level}", xlabel="rating", ylabel="prediction")
            if on_scale:
                panel.plot([1, 5], [1, 5], color="0.7", linewidth=0.8, zorder=0)
                panel.set(aspect="equal", yticks=range(1, 6))
        panel = panels[2, column]
        panel.hist(np.clip(ratings, 1, 5), _BINS, color="0.8", label="ratings")
        if on_scale:
            panel.hist(np.clip(predicted, 1, 5), _BINS, histtype="step", label="predictions")
        panel.set(xlim=(0.8, 5.2), xticks=range(1, 6), box_aspect=0.7, ylabel="pairs")
        what = "rating or prediction" if on_scale else "rating; predictions have another scale"
        panel.set(title=f"{axis}, distributions", xlabel=what)
        panel.legend(fontsize=7, loc="upper left")
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150, format="png", metadata={"Software": None})
    pyplot.close(figure)

"""A picture of the ratings of a set, as the left half of the paper's Figure 1."""

from __future__ import annotations

from pathlib import Path

from auditeval import text
from auditeval.atomic import replacing
from auditeval.report.description import BIN_CENTRES, Description
from auditeval.types import Undefined


def plot(made: Description, path: Path) -> None:
    """A row an axis: the histogram of its ratings, and mean and SD of each system.

    Systems are left out where no pair names one.
    """
    from matplotlib.figure import Figure

    axes, systems = list(made.distributions), made.by.get("system", {})
    names = list(map(text.plot, systems))
    longest = max(map(len, names), default=0)
    height = 0.8 + 2.2 * len(axes) + 0.07 * max(0, longest - 12)
    width = 3.6 + (max(3.4, 0.22 * len(systems)) if systems else 0)
    figure = Figure(figsize=(width, height), layout="constrained")
    ratios = (3.6, width - 3.6) if systems else (1,)
    panels = figure.subplots(
        len(axes), len(ratios), squeeze=False, width_ratios=ratios, sharex="col"
    )
    figure.suptitle(f"Ratings of {text.plot(made.manifest.name)}")
    for row, axis in enumerate(axes):
        spread = made.whole.ratings[axis]
        histogram = panels[row, 0]
        histogram.bar(BIN_CENTRES, made.distributions[axis].counts, width=0.18, color="C0")
        histogram.axvline(spread.mean, color="C3", linewidth=1, label=f"mean {spread.mean:.2f}")
        histogram.yaxis.get_major_locator().set_params(integer=True)
        histogram.legend(frameon=False, fontsize=8)
        histogram.set(xlim=(0.8, 5.2), title=axis, ylabel="pairs")
        if not systems:
            continue
        panel = panels[row, 1]
        for place, group in enumerate(systems.values()):
            if axis in group.ratings:
                _, mean, sd = group.ratings[axis]
                reach = 0.0 if isinstance(sd, Undefined) else sd
                panel.errorbar(place, mean, reach, fmt="o", color="C0", markersize=4, capsize=2)
        panel.set(
            ylim=(0.8, 5.2),
            xlim=(-0.7, len(systems) - 0.3),
            title=f"{axis} by system",
            ylabel="mean and SD",
        )
        panel.grid(axis="y", color="0.9")
    panels[-1, 0].set_xlabel("rating")
    if systems:
        panels[-1, 1].set_xticks(range(len(systems)), names, rotation=90, fontsize=8)
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=120, format="png", metadata={"Software": None})

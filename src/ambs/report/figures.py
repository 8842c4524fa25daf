"""The curves of a report as pictures for papers and slides: a PNG and a PDF for each game."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from ambs.files import replacing
from ambs.report.content import Content
from ambs.report.curves import Chart

# As in page.css, in the same order.
_COLOURS = ("#0072b2", "#c74f00", "#007a5a", "#a8447f", "#7d6200", "#8c1d1d", "#4a4a4a", "#6a4fb3")
_DASHES = (
    "-", (0, (4, 2)), (0, (1, 1.5)), (0, (5, 2, 1, 2)), (0, (2, 1)), (0, (6, 2)), (0, (0.6, 1)), (0, (7, 2, 1, 2, 1, 2))
)  # fmt: skip

# Bytes of a file's name before its ending; file systems take 255 in all.
_LONGEST = 100


def draw(report: Content, folder: Path) -> list[Path]:
    """Two files a game; the paths of all."""
    folder.mkdir(parents=True, exist_ok=True)
    written, names = [], file_names(report.learning)
    for game, learning in report.learning.items():
        charts = [chart for chart in (*learning, *report.shielding.get(game, [])[:1]) if chart.series]
        if not charts:
            continue
        figure, axes = plt.subplots(
            1, len(charts), figsize=(4.2 * len(charts), 3.4), layout="constrained", squeeze=False
        )
        for axis, chart in zip(axes[0], charts, strict=True):
            _chart(axis, chart, report.comparison.agents)
        if len(report.comparison.agents_of(game)) > 1:
            # Below, where it hides no curve.
            lines, agents = axes[0, 0].get_legend_handles_labels()
            figure.legend(lines, agents, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
        figure.suptitle(game, fontsize=11)
        for ending in ("png", "pdf"):
            path = folder / f"{names[game]}.{ending}"
            with replacing(path) as partial:
                figure.savefig(partial, dpi=150, format=ending)
            written.append(path)
        plt.close(figure)
    return written


def file_names(games: Iterable[str]) -> dict[str, str]:
    """Of letters that any file system has, no longer than it takes, and none twice, in capitals or not: where two
    games would have the same, the second has a number."""
    found: dict[str, str] = {}
    for game in games:
        plain = re.sub(r"[^A-Za-z0-9-]+", "-", game).strip("-")[:_LONGEST].rstrip("-") or "game"
        taken = {name.lower() for name in found.values()}
        numbered = (plain if number == 1 else f"{plain}-{number}" for number in itertools.count(1))
        found[game] = next(name for name in numbered if name.lower() not in taken)
    return found


def _chart(axis: Axes, chart: Chart, agents: Sequence[str]) -> None:
    for one in chart.series:
        number = agents.index(one.agent) % len(_COLOURS)
        colour = _COLOURS[number]
        axis.plot(one.step, one.line, color=colour, linestyle=_DASHES[number], lw=1.8, label=one.agent)
        if one.band is not None:
            axis.fill_between(one.step, one.band[0], one.band[1], color=colour, alpha=chart.opacity, lw=0)
    axis.set(xlabel="environment steps", ylabel=chart.title, xlim=(0, chart.steps))
    axis.xaxis.set_major_locator(MaxNLocator(4))
    if chart.share:
        axis.set_ylim(0, 1)
    axis.spines[["top", "right"]].set_visible(False)

"""The picture of the worked example: the corridor, and for each state the exact and the sampled probability."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from ambs.files import replacing
from ambs.runs.worked_example import FORMULA, MOVES, Row

_PLACES = {
    **{f"tile {i}": (i - 1.0, 1.0) for i in range(1, 5)},
    **{f"belt {i}": (i + 0.0, 0.0) for i in range(1, 4)},
    "goal": (4.0, 1.0),
    "acid": (4.0, 0.0),
}
_SAFE, _UNSAFE = "#2a7f62", "#c44536"
_FILL = {"goal": "#cfe8dc", "acid": "#b5d334"}


def draw(rows: list[Row], path: Path) -> None:
    figure, (above, below) = plt.subplots(2, 1, figsize=(8, 7.2), height_ratios=[1, 1.35], layout="constrained")
    _draw_chain(above, {row.state: row for row in rows})
    _draw_probabilities(below, rows)
    figure.suptitle(f"The shield's question:  {FORMULA}", fontsize=13)
    with replacing(path) as partial:
        figure.savefig(partial, dpi=150, format="png")
    plt.close(figure)


def _draw_chain(axes: Axes, rows: dict[str, Row]) -> None:
    for source, moves in MOVES.items():
        for target, weight in moves.items():
            if source == target:
                continue
            arrow = FancyArrowPatch(
                _PLACES[source], _PLACES[target], connectionstyle="arc3,rad=0.18", arrowstyle="-|>",
                mutation_scale=13, shrinkA=24, shrinkB=24, lw=0.6 + 2.2 * weight, color="0.45",
            )  # fmt: skip
            axes.add_patch(arrow)
            (x0, y0), (x1, y1) = _PLACES[source], _PLACES[target]
            # Beside the arc's middle: to its right, seen along the arrow.
            axes.text(
                0.5 * (x0 + x1) + 0.16 * (y1 - y0), 0.5 * (y0 + y1) - 0.16 * (x1 - x0), f"{weight:g}",
                fontsize=8, color="0.3", ha="center", va="center",
            )  # fmt: skip
    for name, (x, y) in _PLACES.items():
        edge = "0.3" if name not in rows else _SAFE if rows[name].accepted else _UNSAFE
        axes.scatter([x], [y], s=1700, c=_FILL.get(name, "white"), edgecolors=edge, linewidths=2.4, zorder=3)
        axes.text(x, y, name.replace(" ", "\n"), ha="center", va="center", zorder=4, fontsize=9)
    axes.set(xlim=(-0.5, 4.5), ylim=(-0.5, 1.5))
    axes.set_title("task policy may act (green), backup policy takes over (red)", fontsize=10)
    axes.axis("off")


def _draw_probabilities(axes: Axes, rows: list[Row]) -> None:
    place = list(range(len(rows)))
    colours = [_SAFE if row.accepted else _UNSAFE for row in rows]
    axes.bar(place, [row.exact for row in rows], color=colours, alpha=0.3, label="exact (model checking)")
    axes.scatter(place, [row.estimate for row in rows], color=colours, zorder=3, label="sampled (ladder A)")
    for x, row in zip(place, rows, strict=True):
        axes.annotate(
            f"{row.traces} traces", (x, max(row.exact, row.estimate)), xytext=(0, 7),
            textcoords="offset points", ha="center", fontsize=8,
        )  # fmt: skip
    axes.axhline(0.9, color="0.2", lw=1, ls="--")
    axes.text(len(rows) - 0.45, 0.905, "1-Δ", fontsize=9, va="bottom", ha="right")
    axes.set_xticks(place, [row.state for row in rows])
    axes.set(ylabel="P( no acid within 30 steps )", ylim=(0, 1.1))
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center right", frameon=False)

"""The pictures: Theorems 2 and 3 printed and corrected, the model's error against both bounds, and calibration."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ambs.files import replacing
from ambs.verify import theorem3
from ambs.verify.settings import DELTA, EPSILON, Row, Tables

_GOOD, _BAD = "#2a7f62", "#c44536"
_HUES = ("#35618f", "#c98a1b", "#8b5fa8", "#c44536", "#2a7f62", "#3aa6c9", "#5c5c5c")


def draw(tables: Tables, folder: Path) -> list[Path]:
    return [
        _save(_theorem_2(tables["theorem_2_curve"], tables["theorem_2"]), folder / "theorem2.png"),
        _save(_theorem_3(tables["theorem_3_models"], tables["theorem_3_negligible"]), folder / "theorem3.png"),
        _save(_model_error(tables["learned_points"]), folder / "model-error.png"),
        _save(_calibration(tables["calibration_bins"]), folder / "calibration.png"),
    ]


def _save(figure: Figure, path: Path) -> Path:
    with replacing(path) as partial:
        figure.savefig(partial, dpi=110, format="png")
    plt.close(figure)
    return path


def _theorem_2(curve: list[Row], rows: list[Row]) -> Figure:
    """Exact failure by horizon as lines, simulations as points, the claim as a dashed line."""
    figure, axes = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
    horizons = [row["horizon"] for row in curve]
    for version, label, colour in (
        ("printed", "printed, α = ε/n", _BAD),
        ("corrected", "corrected, α = ε/(2n)", _GOOD),
    ):
        axes.plot(horizons, [row[version] for row in curve], color=colour, lw=2, label=f"{label}: exact")
    simulated = [row for row in rows if row["version"] == "printed" and row["case"].startswith("counterexample")]
    rate = np.array([row["rate"] for row in simulated])
    ends = np.array([[row["low"] for row in simulated], [row["high"] for row in simulated]])
    axes.errorbar(
        [row["horizon"] for row in simulated], rate, yerr=np.abs(ends - rate), fmt="o", ms=5, color="0.15",
        capsize=3, zorder=3, label="printed: simulated, 95%",
    )  # fmt: skip
    for row in simulated:
        axes.annotate(
            f"{row['worst_failure']:.3f}", (row["horizon"], row["worst_failure"]), xytext=(2, 9),
            textcoords="offset points", ha="left", fontsize=9, color=_BAD,
        )  # fmt: skip
    axes.axhline(DELTA, color="0.2", lw=1, ls="--")
    axes.text(61, DELTA * 1.5, f"claimed: at most δ = {DELTA:g}", ha="right", va="bottom", fontsize=9)
    axes.set(yscale="log", ylim=(1e-14, 20), xlim=(0, 61), xlabel="horizon n")
    axes.set_ylabel(f"P( |estimate - μ| > {EPSILON:g} )")
    axes.set_title("Theorem 2 on its counterexample: a hazard of α a step", fontsize=11)
    axes.legend(loc="center right", bbox_to_anchor=(1, 0.45), frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _theorem_3(models: list[Row], negligible: list[Row]) -> Figure:
    """Left, how far off whole models are after the visits asked for; right, how often unvisited actions break α."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    _by_name(left, models, "case", "bound", ("mean_tv", "low_tv", "high_tv"))
    left.axvline(theorem3.ALPHA, color="0.2", lw=1, ls="--")
    left.text(theorem3.ALPHA * 0.93, -0.62, "α", ha="right", fontsize=9)
    left.set(xscale="log", xlabel="greatest TV of a row in the model: mean and 95% of the experiences")
    left.set_title("Visits to all states", fontsize=11)
    _by_name(right, negligible, "condition", "case", ("rate", "low", "high"))
    right.axvline(theorem3.DELTA, color="0.2", lw=1, ls="--")
    right.text(theorem3.DELTA + 0.015, -0.62, "δ, if claimed", fontsize=9)
    right.set(xlim=(-0.03, 1.03), xlabel="share of experiences with TV > α in some state, 95%")
    right.set_title("Actions below η unvisited", fontsize=11)
    return figure


def _by_name(axes: Axes, rows: list[Row], name: str, series: str, keys: tuple[str, str, str]) -> None:
    """A line of the panel for each name, and in it a point with its interval for each of the series."""
    names, shown = (list(dict.fromkeys(row[key] for row in rows)) for key in (name, series))
    for place, (each, colour) in enumerate(zip(shown, _HUES, strict=False)):
        mine = [row for row in rows if row[series] == each]
        middle, low, high = (np.array([row[key] for row in mine]) for key in keys)
        height = [names.index(row[name]) + 0.16 * (place - (len(shown) - 1) / 2) for row in mine]
        axes.errorbar(
            middle,
            height,
            xerr=np.abs([middle - low, high - middle]),
            fmt="o",
            ms=4,
            color=colour,
            capsize=2,
            label=each,
        )
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(len(names) - 0.5, -0.8)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.14), frameon=False, fontsize=9, ncols=2)


def _model_error(points: list[Row]) -> Figure:
    """Each point is the worst state of one learned chain; above the line a bound is refuted."""
    figure, panels = plt.subplots(1, 2, figsize=(9.6, 5.3), layout="constrained", sharey=True)
    families = list(dict.fromkeys(row["family"] for row in points))
    bounds = (("printed", "as printed: αn/2"), ("corrected", "corrected: 1 - (1-α)ⁿ"))
    for axes, (bound, title) in zip(panels, bounds, strict=True):
        for family, colour in zip(families, _HUES, strict=False):
            mine = [row for row in points if row["family"] == family]
            axes.scatter(
                [row[bound] for row in mine], [row["error"] for row in mine],
                s=13, color=colour, alpha=0.55, linewidths=0, label=family,
            )  # fmt: skip
        above = sum(row["error"] > row[bound] + 1e-7 for row in points)
        _diagonal(axes)
        axes.set_title(f"{title}\n{above} of {len(points)} above it", fontsize=11, color=_BAD if above else _GOOD)
        axes.set(xlabel="bound at the realised α")
    panels[0].set(ylabel="greatest |μ - μ̂| over the states")
    figure.legend(
        *panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9
    )
    return figure


def _diagonal(axes: Axes) -> None:
    low, high = 1e-4, 8.0
    axes.fill_between([low, high], [low, high], [high, high], color=_BAD, alpha=0.07, linewidth=0)
    axes.plot([low, high], [low, high], color="0.2", lw=1)
    axes.text(1.5e-4, 2.5, "bound refuted", fontsize=9, color=_BAD)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, 4))
    axes.spines[["top", "right"]].set_visible(False)


def _calibration(bins: list[Row]) -> Figure:
    """Above, mean estimate against mean μ; below, their difference, which the upper panel is too coarse to show."""
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(7, 7), layout="constrained", sharex=True, height_ratios=[1.6, 1]
    )
    shields = list(dict.fromkeys(row["shield"] for row in bins))
    for place, (shield, colour) in enumerate(zip(shields, _HUES, strict=False)):
        mine = [row for row in bins if row["shield"] == shield]
        exact = np.array([row["mean_exact"] for row in mine])
        error = np.array([row["mean_error"] for row in mine])
        ends = np.array([[row["low"] for row in mine], [row["high"] for row in mine]])
        spread = [row["spread"] for row in mine]
        shifted = exact + 0.006 * (place - (len(shields) - 1) / 2)
        above.errorbar(
            shifted, exact + error, yerr=spread, fmt="o", ms=4, color=colour, elinewidth=1, alpha=0.85, label=shield
        )
        below.errorbar(shifted, error, yerr=np.abs(ends - error), fmt="o-", ms=4, lw=1, color=colour, capsize=2)
    above.plot([0, 1], [0, 1], color="0.2", lw=1)
    above.set(ylabel="mean estimate ± standard deviation", ylim=(-0.05, 1.08))
    above.legend(loc="upper left", frameon=False, fontsize=9)
    above.set_title("The shield's estimate against exact μ, conveyor", fontsize=11)
    below.axhline(0, color="0.2", lw=1)
    below.set(xlabel="exact μ (mean of the bin)", ylabel="mean error, 95%", xlim=(-0.03, 1.03))
    for axes in (above, below):
        axes.axvline(0.9, color="0.2", lw=1, ls="--")
        axes.spines[["top", "right"]].set_visible(False)
    above.text(0.895, -0.03, "1-Δ", fontsize=9, ha="right")
    return figure

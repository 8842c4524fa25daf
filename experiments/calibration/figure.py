"""The reliability diagram: what came true against what was estimated, one panel a way of playing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from ambs.files import replacing

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

HUES = {"sound": "#35618f", "rollout": "#3aa6c9", "paper": "#c44536", "latent": "#c98a1b", "recover": "#2a7f62"}


def draw(rows: list[dict[str, Any]], threshold: float, title: str, path: Path) -> None:
    plays = list(dict.fromkeys(row["play"] for row in rows))
    figure, axes = plt.subplots(
        2, len(plays), figsize=(4.6 * len(plays), 6.4), layout="constrained", squeeze=False, sharex=True, sharey="row",
        height_ratios=[3, 1],
    )  # fmt: skip
    for column, play in enumerate(plays):
        mine = [row for row in rows if row["play"] == play]
        _panel(axes[0, column], mine, threshold)
        _counts(axes[1, column], mine)
        axes[0, column].set_title(f"{play}: {mine[0]['states']} states, {mine[0]['episodes']} episodes", fontsize=10)
    axes[0, 0].set_ylabel("share of real futures that were safe, 95 %")
    axes[1, 0].set_ylabel("share of states")
    figure.suptitle(title, fontsize=11)
    with replacing(path) as file:
        figure.savefig(file, dpi=110, format="png")
    plt.close(figure)


def _panel(axes: Axes, rows: list[dict[str, Any]], threshold: float) -> None:
    axes.plot([0, 1], [0, 1], color="0.2", lw=1)
    axes.axvline(threshold, color="0.2", lw=1, ls="--")
    axes.axhline(threshold, color="0.2", lw=1, ls="--")
    for place, row in enumerate(rows):
        bins = row["reliability"]
        # Side by side, so that the bars of one criterion do not hide another's.
        shift = 0.006 * (place - (len(rows) - 1) / 2)
        estimate, safe = (np.array([each[name] for each in bins]) for name in ("estimate", "safe"))
        ends = np.array([each["interval"] for each in bins], float).T
        axes.errorbar(
            estimate + shift, safe, yerr=np.maximum(np.abs(ends - safe), 0), fmt="o-", ms=4, lw=1, capsize=2, alpha=0.9,
            color=HUES[row["criterion"]],
        )  # fmt: skip
    axes.set(xlim=(-0.04, 1.04), ylim=(-0.04, 1.04))
    axes.spines[["top", "right"]].set_visible(False)


def _counts(axes: Axes, rows: list[dict[str, Any]]) -> None:
    """How many estimates fell where, and below it whose they are."""
    for row in rows:
        bins, colour = row["reliability"], HUES[row["criterion"]]
        estimates, shares = [each["estimate"] for each in bins], [each["states"] / row["states"] for each in bins]
        label = f"{row['criterion']}, Brier {row['brier']['value']:.3f}"
        axes.plot(estimates, shares, "o-", ms=3, lw=1, color=colour, label=label)
    axes.set(xlabel="estimate of staying safe", ylim=(0, 1.04))
    axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.35), ncols=2)
    axes.spines[["top", "right"]].set_visible(False)

"""The picture of the tabular comparison: violations so far, and return, with 95 % bands over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from ambs.runs.figure import save
from ambs.runs.tabular.record import BLOCK
from experiments.statistics import half_width

_HUES = {
    "none": "#c44536",
    "penalty": "#e59a8f",
    "A": "#2a7f62",
    "B": "#4aa88a",
    "C": "#8fcfba",
    "paper": "#35618f",
    "blind": "#7fa6cc",
    "classical": "#c98a1b",
    "classical-99": "#7a5510",
    "prescience": "#8b5fa8",
}


def draw(runs: Mapping[str, list[dict]], names: Mapping[str, str], title: str, path: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    for agent, some in runs.items():
        _band(left, np.cumsum([r["violations"] for r in some], axis=1), names[agent], _HUES[agent])
        window = 10
        smooth = [np.convolve(r["returns"], np.ones(window) / window, mode="valid") for r in some]
        _band(right, np.array(smooth), names[agent], _HUES[agent], first=window)
    left.set(yscale="symlog", ylabel="violations so far", xlabel="steps", xlim=0, ylim=0)
    right.set(ylabel="deliveries in 100 steps", xlabel="steps", xlim=0, ylim=0)
    right.legend(frameon=False, fontsize=8, loc="lower right")
    figure.suptitle(f"{title}: mean over seeds and its 95 % interval", fontsize=11)
    save(figure, path)


def _band(axes, curves: np.ndarray, name: str, colour: str, first: int = 1) -> None:
    steps = BLOCK * np.arange(first, first + curves.shape[1])
    mean = curves.mean(axis=0)
    axes.plot(steps, mean, color=colour, lw=1.8, label=name)
    if len(curves) > 1:
        half = half_width(curves)
        axes.fill_between(steps, np.maximum(mean - half, 0), mean + half, color=colour, alpha=0.15, lw=0)

"""The picture of a training run: return, violations so far, and how often the shield took over."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ambs.files import replacing
from ambs.runs.curves import Curves

# The first is the run itself; the others it is compared with.
_COLOURS = ("#2a7f62", "#c44536", "#35618f")


def draw(runs: Mapping[str, Curves], title: str, path: Path) -> None:
    """The runs by name, in the order they are to be shown."""
    shielded = any(run.overrides is not None for run in runs.values())
    figure, axes = plt.subplots(1, 3 if shielded else 2, figsize=(12.5 if shielded else 8.5, 3.7), layout="constrained")
    for (name, run), colour in zip(runs.items(), _COLOURS, strict=False):
        ended = ~np.isnan(run.returns)
        axes[0].plot(run.step[ended], run.returns[ended], color=colour, lw=2, label=name)
        axes[1].plot(run.step, np.cumsum(run.violations), color=colour, lw=2, label=name)
        if run.overrides is not None:
            axes[2].plot(*run.overrides, color=colour, lw=2, label=name)
    _label(axes[0], "return of an episode")
    _label(axes[1], "violations so far")
    axes[1].set_ylim(0)
    if shielded:
        _label(axes[2], "share of actions overridden")
        axes[2].set_ylim(0, 1)
    if len(runs) > 1:
        axes[1].legend(frameon=False)
    figure.suptitle(title, fontsize=11)
    save(figure, path)


def _label(axes: Axes, name: str) -> None:
    axes.set(xlabel="steps", ylabel=name, xlim=0)
    axes.spines[["top", "right"]].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    with replacing(path) as partial:
        figure.savefig(partial, dpi=120, format="png")
    plt.close(figure)

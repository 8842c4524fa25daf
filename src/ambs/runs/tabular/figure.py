"""The picture of a training: the map with the policy that was learned and where it was refused, and the curves."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes

from ambs.envs import Conveyor
from ambs.envs.render import Painter
from ambs.runs.figure import save
from ambs.runs.tabular.record import BLOCK, Record
from ambs.runs.tabular.training import Training

SHIELDED, UNSHIELDED = "#2a7f62", "#c44536"
_CELL = 40
# Up, right, down, left in the picture's coordinates, whose rows count downward; staying has no arrow.
_ARROWS = ((0, -1), (1, 0), (0, 1), (-1, 0))


def draw(training: Training, world: Conveyor, title: str, best_safe: float, path: Path) -> None:
    figure = plt.figure(figsize=(10, 7.2), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=[1.15, 1])
    for column, (agent, run, name) in enumerate(
        ((training.agent, training.shielded, "with the shield"), (training.blind, training.unshielded, "without"))
    ):
        _map(figure.add_subplot(grid[0, column]), world, agent.probs[:-1].argmax(axis=1), run, name)
    runs = ((training.shielded, "with the shield", SHIELDED), (training.unshielded, "without", UNSHIELDED))
    _violations(figure.add_subplot(grid[1, 0]), runs)
    _returns(figure.add_subplot(grid[1, 1]), runs, best_safe)
    figure.suptitle(title, fontsize=12)
    save(figure, path)


def _map(axes: Axes, world: Conveyor, policy: np.ndarray, run: Record, name: str) -> None:
    """The map, the task policy's arrows, and rings that grow with the refusals in a cell."""
    layout = world.layout
    axes.imshow(Painter(layout, _CELL).picture(layout.start, 0))
    for state, (row, column) in enumerate(layout.cells):
        x, y = (column + 0.5) * _CELL, (row + 0.5) * _CELL
        # On belts, in acid and at the goal the action does not matter.
        if layout.tiles[state] in ".S" and policy[state] < len(_ARROWS):
            dx, dy = _ARROWS[policy[state]]
            axes.annotate(
                "", (x + 13 * dx, y + 13 * dy), (x - 13 * dx, y - 13 * dy),
                arrowprops={"arrowstyle": "-|>", "color": "0.15", "lw": 1.3},
            )  # fmt: skip
        if refusals := run.refused.get(state, 0):
            axes.plot(x, y, "o", ms=6 + 3 * np.log2(1 + refusals), mfc="none", mec=UNSHIELDED, mew=1.6)
    axes.set(xticks=[], yticks=[], title=f"{name}: the policy learned" + (", refusals ringed" if run.refused else ""))


def _violations(axes: Axes, runs: tuple[tuple[Record, str, str], ...]) -> None:
    for run, name, colour in runs:
        axes.plot(_steps(run), np.cumsum(run.violations), color=colour, lw=2, label=name)
    axes.set(xlabel="steps", ylabel="violations so far", xlim=0, ylim=0)
    axes.legend(frameon=False)


def _returns(axes: Axes, runs: tuple[tuple[Record, str, str], ...], best_safe: float) -> None:
    for run, name, colour in runs:
        window = min(10, len(run.returns))
        smooth = np.convolve(run.returns, np.ones(window) / window, mode="valid")
        axes.plot(_steps(run)[window - 1 :], smooth, color=colour, lw=2, label=name)
    axes.axhline(best_safe, color="0.3", lw=1, ls="--", label="most that a safe policy delivers (exact)")
    axes.set(xlabel="steps", ylabel="deliveries in 100 steps, mean of 10", xlim=0, ylim=0)
    axes.legend(frameon=False, loc="lower right")


def _steps(run: Record) -> np.ndarray:
    return BLOCK * np.arange(1, len(run.returns) + 1)

"""Learning curves of a game: for every agent a line over its seeds, and a band where there are enough of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ambs.report.comparison import Comparison
from ambs.report.reading import SHIELD, Run
from ambs.report.statistics import band

PARTS = 50
# A band is looked at, not read to the third digit.
DRAWS = 500

Grid = Int[np.ndarray, " parts"]


@dataclass(frozen=True)
class Series:
    """One agent's line."""

    agent: str
    seeds: int
    step: Int[np.ndarray, " moments"]
    line: Float[np.ndarray, " moments"]
    band: Float[np.ndarray, "2 moments"] | None
    """None where there are too few seeds for an interval."""


@dataclass(frozen=True)
class Chart:
    """What one pair of axes shows."""

    game: str
    title: str
    key: str
    """What is measured, as a name for files."""
    series: list[Series]
    steps: int
    """Where the axis ends."""
    share: bool = False
    """Whether it is of numbers between 0 and 1."""

    @property
    def opacity(self) -> float:
        """Of bands: many that lie upon each other are one dark area, and each of them is drawn fainter."""
        return round(min(0.18, 0.5 / max(1, sum(one.band is not None for one in self.series))), 3)


def learning(comparison: Comparison, game: str) -> list[Chart]:
    """Return and violations so far."""
    steps = comparison.steps[game]
    return [
        Chart(game, "return of an episode", "return", _lines(comparison, game, _returns), steps),
        Chart(game, "violations so far", "violations", _lines(comparison, game, _violations), steps),
    ]


def shielding(comparison: Comparison, game: str) -> list[Chart]:
    """How often the shield took over, how safe it found the actions, and what a decision took it."""
    steps, charts = comparison.steps[game], []
    for key, title, share in (
        ("override_rate", "share of actions overridden", True),
        ("estimate", "estimated probability to stay safe", True),
        ("traces", "imagined traces a decision", False),
        ("steps", "steps of the environment a decision", False),
        ("calibration", "Brier skill of foretold violations", False),
    ):

        def of(run: Run, grid: Grid, name: str = SHIELD + key) -> Float[np.ndarray, " parts"]:
            return _measured(run, name, grid)

        lines = _lines(comparison, game, of)
        if lines:
            charts.append(Chart(game, title, key, lines, steps, share))
    return charts


def _lines(comparison: Comparison, game: str, of: Callable[[Run, Grid], Float[np.ndarray, " parts"]]) -> list[Series]:
    grid = (1 + np.arange(PARTS)) * comparison.steps[game] // PARTS
    series = []
    for agent in comparison.agents_of(game):
        runs = comparison.groups[game, agent]
        curves = np.stack([of(run, grid) for run in runs])
        known = ~np.isnan(curves).any(axis=0)
        if known.any():
            line, between = band(curves[:, known], draws=DRAWS)
            series.append(Series(agent, len(runs), grid[known], line, between))
    return series


def _returns(run: Run, grid: Grid) -> Float[np.ndarray, " parts"]:
    """Means of the episodes that ended in each part; where none did, that of the part before."""
    ended = run.episodes.count > 0
    part = _part(run, grid, run.episodes.step[ended])
    count = run.episodes.count[ended]
    number = np.bincount(part, count, len(grid) + 1)[:-1]
    total = np.bincount(part, count * run.episodes.returns[ended], len(grid) + 1)[:-1]
    return _carried(total, number)


def _violations(run: Run, grid: Grid) -> Float[np.ndarray, " parts"]:
    """Of the episodes that have ended. Where none has, nothing is known: a line at 0 would say that there were none."""
    if not run.episodes.count.any():
        return np.full(len(grid), np.nan)
    part = _part(run, grid, run.episodes.step)
    return np.bincount(part, run.episodes.violations, len(grid) + 1)[:-1].cumsum()


def _measured(run: Run, name: str, grid: Grid) -> Float[np.ndarray, " parts"]:
    steps, values = run.shield.get(name, (np.zeros(0), np.zeros(0)))
    part = _part(run, grid, steps)
    number, total = (np.bincount(part, weights, len(grid) + 1)[:-1] for weights in (None, values))
    return _carried(total, number)


def _part(run: Run, grid: Grid, steps: Sequence[float] | np.ndarray) -> Int[np.ndarray, " rows"]:
    """In which part each step is; one more than there are, for what is beyond. A run's last step may pass its end by as
    many environments as it has, and is in its last part."""
    last = int(grid[-1])
    inside = np.minimum(np.asarray(steps, float), last) if last == run.steps else np.asarray(steps, float)
    return np.searchsorted(grid, inside, side="left")


def _carried(total: Float[np.ndarray, " parts"], number: np.ndarray) -> Float[np.ndarray, " parts"]:
    """Means by part; where there is nothing, what was before, and NaN before the first."""
    means = np.where(number > 0, total / np.maximum(number, 1), np.nan)
    latest = np.maximum.accumulate(np.where(number > 0, np.arange(len(means)), -1))
    return np.where(latest >= 0, means[np.maximum(latest, 0)], np.nan)

"""What is told of a run: the paper's two numbers, and those beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from ambs.report.reading import SHIELD, Run

# As in summary.json: the mean return of so many last episodes.
LAST = 100


@dataclass(frozen=True)
class Measure:
    """One number of a run."""

    key: str
    """As summary.json has it, if it does."""
    words: str
    better: int
    """1 if more is better, -1 if less is, 0 if neither is."""
    digits: int

    @property
    def arrow(self) -> str:
        return {1: " ↑", -1: " ↓", 0: ""}[self.better]


BEST = Measure("best_return", "best episode score", 1, 1)
VIOLATIONS = Measure("violations", "total violations", -1, 0)
FINAL = Measure("final_return", "final return", 1, 2)
LATE = Measure("late_return", "return at the end", 1, 2)
OVERRIDES = Measure("override_rate", "share of actions overridden", 0, 3)
MEASURES = (BEST, VIOLATIONS, FINAL, LATE, OVERRIDES)


def value(run: Run, measure: Measure, at: int, *, cut: bool) -> float:
    """Of the run after `at` steps, NaN where it is not known.

    Where no run of the game is cut these are the numbers of its summary, which counts also what happened in episodes
    that had not ended; where one is, of all runs those of the episodes that had. No summary has the return at the end.
    """
    if measure is LATE:
        return _late(run, at)
    if run.summary is not None and not cut:
        found = run.summary.get(measure.key)
        return math.nan if found is None else float(found)
    if measure is OVERRIDES:
        steps, rates = run.shield.get(SHIELD + "override_rate", (np.zeros(0), np.zeros(0)))
        there = rates[steps <= at]
        return float(there.mean()) if len(there) else math.nan
    return _of_episodes(run, measure, at)


def episodes_by(run: Run, at: int) -> int:
    """How many of its episodes had ended after `at` steps."""
    return int(run.episodes.count[_ended(run, at)].sum())


def _ended(run: Run, at: int) -> Bool[np.ndarray, " ends"]:
    """A run's last step may pass its end by as many environments as it has."""
    return (run.episodes.count > 0) & ((run.episodes.step <= at) | (at >= run.steps))


def _late(run: Run, at: int) -> float:
    """The mean over the episodes that ended in the last tenth of the steps, of parts of a run by their numbers of
    episodes; NaN if none did."""
    late = _ended(run, at) & (10 * run.episodes.step > 9 * at)
    return float(np.average(run.episodes.returns[late], weights=run.episodes.count[late])) if late.any() else math.nan


def _of_episodes(run: Run, measure: Measure, at: int) -> float:
    there = (run.episodes.step <= at) & (run.episodes.count > 0)
    returns, count = run.episodes.returns[there], run.episodes.count[there]
    # Where no episode has ended nothing is known, of violations neither: 0 would be praise.
    # And of a kept run only means of parts are known.
    if not len(returns) or (measure is BEST and not run.episodes.one_by_one):
        return math.nan
    if measure is VIOLATIONS:
        return float(run.episodes.violations[there].sum())
    if measure is BEST:
        return float(returns.max())
    # The last entries that make up so many episodes; of the earliest of them only as many as are missing.
    after = count[::-1].cumsum()[::-1] - count
    taken = np.clip(LAST - after, 0, count)
    return float((returns * taken).sum() / taken.sum())

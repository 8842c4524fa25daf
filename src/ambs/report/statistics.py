"""Statistics of a few runs: interquartile means, and intervals by the stratified bootstrap over seeds.

As Agarwal et al. (2021) propose for comparisons of few runs, and as their `rliable` computes it: runs are drawn anew
within each game (a stratum), so that every draw has as many runs of each game as there are, and the interval is between
percentiles of the draws. tests/report/test_statistics.py compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

DRAWS = 2000
CONFIDENCE = 0.95
# Of one run the bootstrap draws only that run, of two it is between the two whatever they are: neither says anything.
LEAST_SEEDS = 3
# Of two equal agents one looked the better in one of ten comparisons of three runs, and in one of 35 of four
# (results/interval_coverage.md).
LEAST_TO_RANK = 4

Runs = Float[np.ndarray, " runs"]
Statistic = Callable[[Float[np.ndarray, "... runs"]], Float[np.ndarray, "..."]]


@dataclass(frozen=True)
class Estimate:
    """A number and its interval; both ends are None where there are too few seeds for one."""

    value: float
    low: float | None
    high: float | None
    seeds: int
    """Of the game that has the fewest."""

    def apart(self, other: Estimate) -> bool:
        """Whether the intervals do not overlap; False where there are none."""
        if self.low is None or self.high is None or other.low is None or other.high is None:
            return False
        return self.low > other.high or other.low > self.high


def iqm(values: Float[np.ndarray, "... runs"]) -> Float[np.ndarray, "..."]:
    """The mean of what is left without the lowest and the highest quarter, each rounded down: of three runs, all."""
    ordered = np.sort(values, axis=-1)
    cut = values.shape[-1] // 4
    return np.asarray(ordered[..., cut : values.shape[-1] - cut].mean(axis=-1))


def estimate(
    strata: Sequence[Runs],
    statistic: Statistic = iqm,
    *,
    confidence: float = CONFIDENCE,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """The statistic of all runs of all strata, with its interval."""
    seeds = min(len(runs) for runs in strata)
    value = float(statistic(np.concatenate(strata)))
    if seeds < LEAST_SEEDS:
        return Estimate(value, None, None, seeds)
    rng = np.random.default_rng(seed)
    drawn = statistic(np.concatenate([_drawn(runs, draws, rng) for runs in strata], axis=1))
    return Estimate(value, *_between(drawn, confidence), seeds)


def improvement(
    mine: Sequence[Runs],
    theirs: Sequence[Runs],
    *,
    confidence: float = CONFIDENCE,
    draws: int = DRAWS,
    seed: int = 0,
) -> Estimate:
    """The chance that a run of mine is above one of theirs in the same game, ties half; the mean over games.

    Both are strata in the same order of games, and are drawn anew independently.
    """
    seeds = min(len(runs) for runs in (*mine, *theirs))
    value = float(np.mean([_above(a[None], b[None])[0] for a, b in zip(mine, theirs, strict=True)]))
    if seeds < LEAST_SEEDS:
        return Estimate(value, None, None, seeds)
    rng = np.random.default_rng(seed)
    drawn = [_above(_drawn(a, draws, rng), _drawn(b, draws, rng)) for a, b in zip(mine, theirs, strict=True)]
    return Estimate(value, *_between(np.mean(drawn, axis=0), confidence), seeds)


def band(
    runs: Float[np.ndarray, "runs moments"], *, draws: int = DRAWS, seed: int = 0
) -> tuple[Float[np.ndarray, " moments"], Float[np.ndarray, "2 moments"] | None]:
    """The interquartile mean at every moment, and between what; whole runs are drawn anew, the same at all moments."""
    line = iqm(runs.T)
    if len(runs) < LEAST_SEEDS:
        return line, None
    index = np.random.default_rng(seed).integers(len(runs), size=(draws, len(runs)))
    return line, np.quantile(np.stack([iqm(moment[index]) for moment in runs.T], axis=1), _ends(CONFIDENCE), axis=0)


def _drawn(runs: Runs, draws: int, rng: np.random.Generator) -> Float[np.ndarray, "draws runs"]:
    return runs[rng.integers(len(runs), size=(draws, len(runs)))]


def _above(mine: Float[np.ndarray, "draws a"], theirs: Float[np.ndarray, "draws b"]) -> Float[np.ndarray, " draws"]:
    difference = mine[:, :, None] - theirs[:, None, :]
    return np.asarray((np.sign(difference) + 1).mean(axis=(1, 2)) / 2)


def _between(drawn: Float[np.ndarray, " draws"], confidence: float) -> tuple[float, float]:
    low, high = np.quantile(drawn, _ends(confidence))
    return float(low), float(high)


def _ends(confidence: float) -> tuple[float, float]:
    return (1 - confidence) / 2, (1 + confidence) / 2

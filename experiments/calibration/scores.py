"""How good probabilities are, by what came true: Brier scores, reliability, wrong decisions, with intervals.

Of each visited state there is the estimate p of staying safe, and of n independent futures the share y that did: many
by rollouts of the environment, or one that was lived through.

    Brier     mean of  y (1-p)² + (1-y) p²          the expected squared error against single futures, unbiased
    skill     1 - Brier / Brier of the base rate, which says mean y everywhere
    noise     mean of  n/(n-1) y (1-y)              what the truth itself would score; Brier - noise is mean (p - μ)²
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from jaxtyping import Bool, Float, Int

EDGES = np.array([0.0, 0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0])
RESAMPLES = 2000


@dataclass(frozen=True)
class Sample:
    """Visited states, in any order."""

    estimate: Float[np.ndarray, " n"]
    """p, by many imagined traces."""
    accepted: Bool[np.ndarray, " n"]
    """What the shield's own test decided."""
    safe: Float[np.ndarray, " n"]
    """y, the share of real futures that stayed safe."""
    episode: Int[np.ndarray, " n"]
    """States of one episode are alike; episodes are independent."""

    def where(self, rows: np.ndarray) -> Sample:
        return Sample(*(getattr(self, field.name)[rows] for field in fields(self)))


def brier(sample: Sample) -> float:
    return float(np.mean(sample.safe * (1 - sample.estimate) ** 2 + (1 - sample.safe) * sample.estimate**2))


def base_brier(sample: Sample) -> float:
    """Of the mean over all states, told everywhere."""
    rate = float(np.mean(sample.safe))
    return rate * (1 - rate)


def skill(sample: Sample) -> float:
    """1 is perfect, 0 no better than the base rate; NaN where all futures are alike, and there is nothing to tell."""
    base = base_brier(sample)
    return 1 - brier(sample) / base if base > 0 else float("nan")


def noise(sample: Sample, futures: int) -> float:
    """The part of the Brier score that is the futures' own; NaN from one future alone."""
    if futures < 2:
        return float("nan")
    return float(np.mean(sample.safe * (1 - sample.safe)) * futures / (futures - 1))


def bias(sample: Sample) -> float:
    """How much safer the estimate is than the truth, on average."""
    return float(np.mean(sample.estimate - sample.safe))


def unsafe_accepted(sample: Sample) -> float:
    """The share of accepted actions' futures that broke the formula; what the shield promises is at most Δ."""
    return _share(1 - sample.safe[sample.accepted])


def unsafe_refused(sample: Sample) -> float:
    """The same of what was refused."""
    return _share(1 - sample.safe[~sample.accepted])


def false_accepts(sample: Sample, threshold: float) -> float:
    """The share of actions with μ below the threshold, 1-Δ, that were accepted."""
    return _share(sample.accepted[sample.safe < threshold])


def false_rejects(sample: Sample, threshold: float) -> float:
    """The share of actions with μ at the threshold or above that were refused."""
    return _share(~sample.accepted[sample.safe >= threshold])


def interval(sample: Sample, score: Callable[[Sample], float], seed: int = 0) -> list[float | None]:
    """95 % by the bootstrap over episodes; resamples in which the score means nothing are left out."""
    rng, rows = np.random.default_rng(seed), _rows_by_episode(sample)
    drawn = []
    for _ in range(RESAMPLES):
        picked = np.concatenate([rows[i] for i in rng.integers(len(rows), size=len(rows))])
        drawn.append(score(sample.where(picked)))
    told = np.array(drawn)[~np.isnan(drawn)]
    return [None, None] if not len(told) else [float(end) for end in np.percentile(told, [2.5, 97.5])]


def reliability(sample: Sample, edges: np.ndarray = EDGES) -> list[dict[str, float]]:
    """By estimate: how many states, the mean estimate and what came true of them. Bins without states are left out.

    A bin has its lower edge, and the last one 1 as well.
    """
    which = np.clip(np.searchsorted(edges, sample.estimate, side="right") - 1, 0, len(edges) - 2)
    return [
        {
            "from": float(edges[index]),
            "to": float(edges[index + 1]),
            "states": int((which == index).sum()),
            "estimate": float(sample.estimate[which == index].mean()),
            "safe": float(sample.safe[which == index].mean()),
        }
        for index in range(len(edges) - 1)
        if (which == index).any()
    ]


def reliability_intervals(sample: Sample, edges: np.ndarray = EDGES) -> list[dict[str, float | list[float | None]]]:
    """The same with the interval of what came true, by the bootstrap over episodes within the bin."""
    rows: list[dict[str, float | list[float | None]]] = []
    for row in reliability(sample, edges):
        # The last bin has its upper edge too.
        upper = sample.estimate <= row["to"] if row["to"] == edges[-1] else sample.estimate < row["to"]
        inside = sample.where((sample.estimate >= row["from"]) & upper)
        rows.append({**row, "interval": interval(inside, lambda part: float(part.safe.mean()))})
    return rows


def _rows_by_episode(sample: Sample) -> list[Int[np.ndarray, " rows"]]:
    order = np.argsort(sample.episode, kind="stable")
    ends = np.flatnonzero(np.diff(sample.episode[order])) + 1
    return np.split(order, ends)


def _share(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")

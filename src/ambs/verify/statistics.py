"""What was counted, with an interval; and what need not be counted, because it is a binomial sum."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy import stats

from ambs.shield.stat_tests.looks import Looks
from ambs.verify.settings import Row


def observed(failures: int, trials: int, confidence: float = 0.95) -> Row:
    """A share, and the Clopper-Pearson interval of the probability behind it."""
    tail = (1 - confidence) / 2
    low = float(stats.beta.ppf(tail, failures, trials - failures + 1)) if failures else 0.0
    high = float(stats.beta.ppf(1 - tail, failures + 1, trials - failures)) if failures < trials else 1.0
    return {"failures": failures, "trials": trials, "rate": failures / trials, "low": low, "high": high}


def failure_probability(
    traces: int,
    sampled: Float[np.ndarray, " states"],
    truth: Float[np.ndarray, " states"],
    epsilon: float,
    sides: int = 2,
) -> Float[np.ndarray, " states"]:
    """P(|μ̃ - μ| > ε), or P(μ̃ - μ > ε) for one side, exactly.

    m μ̃ is binomial with m = `traces` and the probability μ̂ = `sampled` of the chain that the traces come from; μ =
    `truth` may be another's. Sums that equal ε but for rounding are not failures.
    """
    most, least = (np.floor(traces * (truth + epsilon) + 1e-9), np.ceil(traces * (truth - epsilon) - 1e-9))
    sampled = np.clip(sampled, 0, 1)
    above = np.asarray(stats.binom.sf(most, traces, sampled))
    return above if sides == 1 else above + np.asarray(stats.binom.cdf(least - 1, traces, sampled))


def missed(satisfied: np.ndarray, traces: int, truth: float, epsilon: float, sides: int = 2) -> int:
    """How many of the estimates `satisfied / traces` are further than ε from the truth (above it, for one side)."""
    error = satisfied / traces - truth
    return int(np.sum((error if sides == 1 else np.abs(error)) > epsilon + 1e-9 / traces))


def mean_interval(values: Float[np.ndarray, " n"], confidence: float = 0.95) -> tuple[float, float, float]:
    """The mean of independent values and its t interval."""
    mean, spread = float(np.mean(values)), float(np.std(values, ddof=1))
    half = float(stats.t.ppf(0.5 + confidence / 2, len(values) - 1)) * spread / np.sqrt(len(values))
    return mean, mean - half, mean + half


def expected_estimate(looks: Looks, mu: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """E[μ̃] of a test that stops at its looks, exactly; not μ, because a test that may stop early stops on luck."""
    # A product of probabilities may round to a hair above 1.
    mu = np.clip(mu, 0, 1)
    violations = np.arange(looks.samples[-1] + 1)
    undecided = np.zeros((len(mu), len(violations)))
    undecided[:, 0] = 1.0
    expected, drawn = np.zeros(len(mu)), 0
    for samples, accept, reject in zip(looks.samples, looks.accept, looks.reject, strict=True):
        after = np.zeros_like(undecided)
        for new in range(samples - drawn + 1):
            weight = np.asarray(stats.binom.pmf(new, samples - drawn, 1 - mu))[:, None]
            after[:, new:] += weight * undecided[:, : len(violations) - new]
        stops = (violations <= accept) | (violations >= reject)
        expected = expected + np.where(stops, after, 0.0) @ (1 - violations / samples)
        undecided, drawn = np.where(stops, 0.0, after), samples
    return expected

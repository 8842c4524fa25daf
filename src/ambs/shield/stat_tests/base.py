"""The contract of a test: a stream of traces in, accept or reject out, and its exact operating characteristic."""

from __future__ import annotations

import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from jaxtyping import Float
from scipy import optimize

from ambs.errors import AmbsError, probability
from ambs.shield.stat_tests.looks import Looks


@dataclass(frozen=True)
class Verdict:
    """What a test said about one stream of traces.

    Attributes:
        accepted: whether `μ >= 1-Δ` was accepted.
        samples: how many traces it took.
        estimate: the mean of those traces, so the share that satisfied the formula.
    """

    accepted: bool
    samples: int
    estimate: float


class StatTest(abc.ABC):
    """A test of `μ >= 1-Δ` from traces that satisfy the formula (True) or not (False).

    The guarantee is about false acceptance: `P(accept) <= δ` whenever the violation probability is `p0` or
    more. It speaks of the distribution the traces come from, so of the *model*, and of one check: over N
    checks in unsafe states up to Nδ false acceptances are to be expected.
    """

    @property
    @abc.abstractmethod
    def looks(self) -> Looks:
        """The boundaries of the test on Boolean traces."""

    @abc.abstractmethod
    def decide(self, draw: Callable[[int], np.ndarray]) -> Verdict:
        """Runs the test; `draw(k)` returns the next k traces, True (or 1) for satisfied."""

    @overload
    def accept_probability(self, mu: float) -> float: ...
    @overload
    def accept_probability(self, mu: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]: ...
    def accept_probability(self, mu: Any) -> Any:
        """P(accept) when a trace satisfies the formula with probability `mu`; exact, elementwise."""
        return _elementwise(self.looks.accept_probability, mu)

    @overload
    def expected_samples(self, mu: float) -> float: ...
    @overload
    def expected_samples(self, mu: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]: ...
    def expected_samples(self, mu: Any) -> Any:
        """The mean number of traces drawn when a trace satisfies the formula with probability `mu`; exact."""
        return _elementwise(self.looks.expected_samples, mu)

    @property
    def max_samples(self) -> int:
        return self.looks.samples[-1]

    def certified_rate(self, delta: float) -> float:
        """The smallest violation probability p0 that the test excludes: P(accept) <= δ for all p >= p0.

        Boundaries are monotone, so P(accept) falls as p grows and one root tells. For a fixed-size rule this
        is the Clopper-Pearson bound at its largest accepted count.
        """
        probability("delta", delta)
        return float(optimize.brentq(lambda p: self.accept_probability(1 - p) - delta, 0.0, 1.0, xtol=1e-14))


def testable(p0: float, delta: float) -> None:
    """p0 and δ are probabilities, and not so small that no number of traces would be enough in practice."""
    probability("delta", delta)
    if probability("p0", p0) < 1e-9:
        raise AmbsError(f"p0 is {p0:g}, which would take more than 10^9 traces to exclude; choose a larger one.")


def decide_by_looks(looks: Looks, draw: Callable[[int], np.ndarray]) -> Verdict:
    """Draws batch by batch and stops at the first look that decides."""
    violations = drawn = 0
    for samples, accept, reject in zip(looks.samples, looks.accept, looks.reject, strict=True):
        traces = np.asarray(draw(samples - drawn))
        if traces.shape != (samples - drawn,):
            raise AmbsError(f"draw({samples - drawn}) has to return that many traces, not shape {traces.shape}.")
        if traces.dtype != bool and not np.isin(traces, (0, 1)).all():
            raise AmbsError("this test takes Boolean traces; for values in [0, 1] use ambs.Betting.")
        drawn = samples
        violations += int(np.count_nonzero(~traces.astype(bool)))
        if violations <= accept or violations >= reject:
            return Verdict(violations <= accept, drawn, 1 - violations / drawn)
    raise AssertionError("the last look decides")


def _elementwise(function: Callable[[np.ndarray], np.ndarray], mu: Any) -> Any:
    values = np.asarray(mu, float)
    if values.size and not np.all((values >= 0) & (values <= 1)):
        raise AmbsError(f"mu is {mu}, and a probability lies in [0, 1].")
    result = function(values.ravel()).reshape(values.shape)
    return result if values.ndim else float(result)

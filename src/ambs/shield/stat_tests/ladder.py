"""The three-look ladder: the same guarantee as a fixed rule, on a fraction of the traces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log, log1p

import numpy as np
from scipy import stats

from ambs.errors import AmbsError, probability
from ambs.shield.stat_tests.base import StatTest, Verdict, decide_by_looks, testable
from ambs.shield.stat_tests.looks import Looks

# A design has to accept a state ten times safer than required at least this often.
_POWER = 0.95
_REJECT_FIRST = 3
# A sharp ladder may spend this share of δ at each of its looks but the last, and loses no more than this share of the
# states that are twice as safe as required at each.
_SPENT = 0.25
_LOST = 0.01


@dataclass(frozen=True)
class Ladder(StatTest):
    """A few looks in growing batches: reject bad states early, accept clean ones soon, decide the rest last.

    `P(accept) <= δ` for every violation probability of at least p0, exactly. The guarantee is not the whole
    behaviour: a ladder at level A accepts many more states with μ between .9 and .99 than the paper's 5 of
    512 does. Level C follows the paper's curve.
    """

    samples: tuple[int, ...]
    accept: tuple[int, ...]
    reject: tuple[int, ...]
    p0: float
    delta: float

    def __post_init__(self) -> None:
        probability("p0", self.p0)
        probability("delta", self.delta)
        error = self.accept_probability(1 - self.p0)
        if error > self.delta:
            raise AmbsError(
                f"this ladder accepts with probability {error:.4g} at a violation probability of {self.p0:g}, "
                f"which is more than delta {self.delta:g}; use Ladder.design(p0, delta)."
            )

    @classmethod
    def level(cls, level: str) -> Ladder:
        """Δ = .1, δ = .01, at three strictnesses.

        A: the model is taken as exact (p0 = .1).
        B: with the model slack ε/2 of Theorem 2's budget (p0 = .055).
        C: as strict as the paper's 5 of 512 really is (p0 = .0254), with its operating curve to within .01.
        """
        if level not in _LEVELS:
            raise AmbsError(f"there is no level {level!r}; the levels are A, B and C.")
        return _LEVELS[level]

    @classmethod
    def design(cls, p0: float, delta: float) -> Ladder:
        """The smallest ladder n-3n-7n with `P(accept) <= δ` at p0 and power .95 at p0/10.

        Reject at n from r = 3 violations on; accept at 3n if there was none; at 7n accept up to c. For given r and c
        the accept event shrinks as n grows, so the least admissible n is found by bisection. c is the least for which
        the power suffices, and then as large as that n still allows; r grows only where rejecting so early alone would
        cost the power (δ below about 1e-11).
        """
        testable(p0, delta)
        first, violations = _REJECT_FIRST, 0
        while True:
            unit = _least_unit(violations, first, p0, delta)
            if _acceptance(unit, violations, first, 1 - p0 / 10) >= _POWER:
                break
            if stats.binom.cdf(first - 1, unit, p0 / 10) < _POWER:
                first += 1
            else:
                violations += 1
        while _acceptance(unit, violations + 1, first, 1 - p0) <= delta:
            violations += 1
        return cls(*_shape(unit, violations, first), p0, delta)

    @classmethod
    def sharp(cls, p0: float, delta: float) -> Ladder:
        """Five looks n-4n-8n-16n-32n: still `P(accept) <= δ` at p0, but power .9 at p0/2 already.

        `design` saves traces and rejects most states that are only twice as safe as required; where the model is a
        little unsure everywhere, as a learned one is at the edge of what it knows, it holds the agent back there. Here
        only the states in between cost more traces. Clean ones are accepted at 4n, which is the least n for which
        that spends no more than its share of δ.
        """
        testable(p0, delta)
        unit = ceil(log(_SPENT * delta) / log1p(-p0) / 4)
        early, last = [unit * times for times in (1, 4, 8, 16)], 32 * unit
        accept = [int(stats.binom.ppf(_SPENT * delta, traces, p0)) - 1 for traces in early]
        reject = [int(stats.binom.isf(_LOST, traces, p0 / 2)) + 2 for traces in early]

        def looks(violations: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
            at_most = violations + 1
            return (*early, last), (*accept, violations), (*(min(each, at_most) for each in reject), at_most)

        violations = accept[-1] + 1
        while Looks(*looks(violations + 1)).accept_probability(np.array([1 - p0]))[0] <= delta:
            violations += 1
        return cls(*looks(violations), p0, delta)

    @property
    def looks(self) -> Looks:
        return Looks(self.samples, self.accept, self.reject)

    def decide(self, draw: Callable[[int], np.ndarray]) -> Verdict:
        return decide_by_looks(self.looks, draw)


def _shape(unit: int, violations: int, first: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    last = violations + 1
    return (unit, 3 * unit, 7 * unit), (-1, 0, violations), (min(first, last), last, last)


def _acceptance(unit: int, violations: int, first: int, mu: float) -> float:
    return float(Looks(*_shape(unit, violations, first)).accept_probability(np.array([mu]))[0])


def _least_unit(violations: int, first: int, p0: float, delta: float) -> int:
    # No rule can accept on fewer clean traces than this: (1 - p0)^(3 unit) <= delta.
    low = max(ceil(log(delta) / log1p(-p0) / 3), 1) - 1
    high = low + 1
    while _acceptance(high, violations, first, 1 - p0) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        enough = _acceptance(middle, violations, first, 1 - p0) <= delta
        low, high = (low, middle) if enough else (middle, high)
    return high


_LEVELS = {
    "A": Ladder((16, 48, 112), (-1, 0, 3), (3, 4, 4), 0.1, 0.01),
    "B": Ladder((32, 96, 192), (-1, 0, 3), (3, 4, 4), 0.055, 0.01),
    "C": Ladder((64, 288, 512), (-1, 0, 5), (4, 5, 6), 0.0254, 0.01),
}

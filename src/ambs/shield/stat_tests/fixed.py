"""The paper's rule: draw m traces, accept if the mean is at least 1-Δ+ε. With exact curtailment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor

import numpy as np
from scipy import stats

from ambs.errors import AmbsError, positive_integer, probability
from ambs.shield.stat_tests.base import StatTest, Verdict, decide_by_looks, testable
from ambs.shield.stat_tests.looks import Looks


@dataclass(frozen=True)
class Fixed(StatTest):
    """`samples` traces, accepted iff at most `max_violations` of them violate (Algorithm 1's last lines).

    Attributes:
        samples: m.
        max_violations: the largest number of violations that is accepted.
        batch: None draws all m at once, as the paper does. A number draws that many at a time and stops as
            soon as the outcome is settled either way (curtailment): the same decisions on the same traces,
            on fewer of them; 1 is the most thrifty.
    """

    samples: int = 512
    max_violations: int = 5
    batch: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", positive_integer("samples", self.samples))
        if self.max_violations != int(self.max_violations) or not 0 <= self.max_violations < self.samples:
            raise AmbsError(
                f"max_violations is {self.max_violations}, and has to be a whole number in 0 to {self.samples - 1} for "
                f"{self.samples} samples: otherwise the rule never or always accepts."
            )
        if self.batch is not None:
            object.__setattr__(self, "batch", positive_integer("batch", self.batch))

    @classmethod
    def paper(cls, Delta: float = 0.1, epsilon: float = 0.09, samples: int = 512, batch: int | None = None) -> Fixed:
        """Algorithm 1's rule `mean >= 1-Δ+ε`, so at most floor(m(Δ-ε)) violations: 5 of 512 in the paper."""
        probability("Delta", Delta)
        probability("epsilon", epsilon)
        if epsilon > Delta:
            raise AmbsError(
                f"epsilon {epsilon:g} is larger than Delta {Delta:g}: then 1-Delta+epsilon is above 1 and the "
                "rule never accepts; choose epsilon <= Delta."
            )
        # Of the decimal numbers as written: 0.09 - 0.08 is a little less than 0.01 in floating point.
        allowed = floor(samples * (Fraction(str(Delta)) - Fraction(str(epsilon))))
        return cls(samples, allowed, batch)

    @classmethod
    def smallest(cls, p0: float, delta: float, max_violations: int = 0) -> Fixed:
        """The fewest traces for which accepting with `max_violations` has P(accept) <= δ at p >= p0."""
        testable(p0, delta)
        low, high = max_violations, max_violations + 1
        while stats.binom.cdf(max_violations, high, p0) > delta:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = stats.binom.cdf(max_violations, middle, p0) <= delta
            low, high = (low, middle) if enough else (middle, high)
        return cls(high, max_violations)

    @cached_property
    def looks(self) -> Looks:
        step = self.batch or self.samples
        samples = (*range(step, self.samples, step), self.samples)
        # Settled for good when even a violation in every remaining trace would leave few enough.
        accept = tuple(max(-1, self.max_violations - (self.samples - n)) for n in samples)
        return Looks(samples, accept, (self.max_violations + 1,) * len(samples))

    def decide(self, draw: Callable[[int], np.ndarray]) -> Verdict:
        return decide_by_looks(self.looks, draw)

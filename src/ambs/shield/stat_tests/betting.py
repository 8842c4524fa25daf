"""The betting test: anytime-valid, and for traces with values in [0, 1], not only true and false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy import stats

from ambs.errors import AmbsError, positive_integer, probability
from ambs.shield.stat_tests.base import StatTest, Verdict
from ambs.shield.stat_tests.looks import Looks

# Nodes of the mixture. Any mixture of valid bets is a valid bet, so this many *is* the test, not an
# approximation of one: more nodes change no boundary of the default.
_NODES = 16


@dataclass(frozen=True)
class Betting(StatTest):
    """Bets against `mean <= 1-p0`; accepts when the wealth has grown by 1/δ.

        W_n = sum_j w_j prod_{i<=n} (1 + λ_j (x_i - (1-p0))),    λ_j = (p0 - p_j) / (p0 (1-p0))

    Under the null each factor has mean at most one, so W is a supermartingale and `P(ever W >= 1/δ) <= δ`
    (Ville): it may be looked at after every batch. On Boolean traces a factor is the likelihood ratio of
    violation probability p_j against p0. The p_j follow a Beta prior cut off at p0; a point prior at p1 is
    Wald's sequential probability ratio test.

    Attributes:
        p0: the violation probability to exclude.
        delta: the probability of a false acceptance.
        prior: (a, b) of the Beta distribution that the p_j are spread by, or one p1 < p0 for the SPRT.
        futility: give up (reject) when the wealth falls to this; it costs power, never soundness.
        max_samples_drawn: give up after this many traces.
        batch: traces between looks.
    """

    p0: float = 0.1
    delta: float = 0.01
    prior: tuple[float, float] | float = (0.5, 10.0)
    futility: float = 0.05
    max_samples_drawn: int = 512
    batch: int = 1

    def __post_init__(self) -> None:
        probability("p0", self.p0)
        probability("delta", self.delta)
        positive_integer("max_samples_drawn", self.max_samples_drawn)
        positive_integer("batch", self.batch)
        if not 0 <= self.futility < 1:
            raise AmbsError(f"futility is {self.futility:g}; wealth starts at 1, so it has to lie in [0, 1).")
        if isinstance(self.prior, tuple):
            if len(self.prior) != 2 or not min(self.prior) > 0:
                raise AmbsError(f"the prior {self.prior} has to be two positive numbers, or one p1 < p0.")
        elif not 0 <= self.prior < self.p0:
            raise AmbsError(f"the alternative {self.prior:g} has to lie in [0, p0) with p0 = {self.p0:g}.")

    @cached_property
    def _mixture(self) -> tuple[Float[np.ndarray, " nodes"], Float[np.ndarray, " nodes"]]:
        """The p_j and their weights: Gauss-Legendre nodes in the mass of the prior, cut off at p0."""
        if not isinstance(self.prior, tuple):
            return np.array([self.prior]), np.ones(1)
        prior = stats.beta(*self.prior)
        nodes, weights = np.polynomial.legendre.leggauss(_NODES)
        return prior.ppf((nodes + 1) / 2 * prior.cdf(self.p0)), weights / weights.sum()

    def _log_wealth(self, gains: Float[np.ndarray, "rows nodes"]) -> Float[np.ndarray, " rows"]:
        _, weights = self._mixture
        return np.logaddexp.reduce(gains + np.log(weights), axis=-1)

    def _gain(self, values: Float[np.ndarray, " values"]) -> Float[np.ndarray, "values nodes"]:
        """The logarithm of each factor, for each value and node."""
        nodes, _ = self._mixture
        bet = (self.p0 - nodes) / (self.p0 * (1 - self.p0))
        with np.errstate(divide="ignore"):
            # A bet of everything on "no violation" (p_j = 0) loses everything at a violation.
            return np.log(np.maximum(1 + bet * (values[:, None] - (1 - self.p0)), 0.0))

    @cached_property
    def looks(self) -> Looks:
        samples = (*range(self.batch, self.max_samples_drawn, self.batch), self.max_samples_drawn)
        lost, won = self._gain(np.array([0.0, 1.0]))
        accept, reject = [], []
        for n in samples:
            # Wealth falls with every violation, so the boundaries are two counts.
            count = np.arange(n + 1)[:, None]
            with np.errstate(invalid="ignore"):
                gains = np.where(count > 0, count * lost, 0.0) + (n - count) * won
            wealth = self._log_wealth(gains)
            accept.append(int(np.count_nonzero(wealth >= -np.log(self.delta))) - 1)
            hopeless = np.count_nonzero(wealth > np.log(self.futility)) if self.futility else n + 1
            reject.append(max(int(hopeless), accept[-1] + 1))
        # Nor go on once even clean traces to the end could not bring acceptance: boundaries grow with n.
        last = accept[-1] + 1
        return Looks(
            samples,
            tuple(accept),
            tuple(max(a + 1, min(r, last)) for a, r in zip(accept, reject, strict=True)),
        )

    def decide(self, draw: Callable[[int], np.ndarray]) -> Verdict:
        """Runs the test on values in [0, 1]; Boolean traces are 0 and 1."""
        nodes, _ = self._mixture
        gains, total, drawn = np.zeros(len(nodes)), 0.0, 0
        won = self._gain(np.ones(1))[0]
        while drawn < self.max_samples_drawn:
            values = np.asarray(draw(min(self.batch, self.max_samples_drawn - drawn)), float)
            if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
                raise AmbsError("traces have to be a vector of values in [0, 1].")
            gains = gains + self._gain(values).sum(axis=0)
            total, drawn = total + float(values.sum()), drawn + len(values)
            # Now, and at the end if nothing more were to go wrong.
            remaining = (self.max_samples_drawn - drawn) * won
            wealth, at_best = self._log_wealth(np.stack([gains, gains + remaining]))
            if wealth >= -np.log(self.delta):
                return Verdict(True, drawn, total / drawn)
            if at_best < -np.log(self.delta) or (self.futility and wealth <= np.log(self.futility)):
                break
        return Verdict(False, drawn, total / drawn)

"""The betting test: anytime-valid, and for traces with values in [0, 1], not only true and false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy import stats

from ambs.errors import AmbsError, positive_integer
from ambs.shield.stat_tests.base import StatTest, Verdict, testable
from ambs.shield.stat_tests.fixed import Fixed
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
        max_samples_drawn: give up after this many traces; if None, 512 or what a fixed rule that allows 20
            violations would take, whichever is more.
        batch: traces between looks.
    """

    p0: float = 0.1
    delta: float = 0.01
    prior: tuple[float, float] | float = (0.5, 10.0)
    futility: float = 0.05
    max_samples_drawn: int | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        testable(self.p0, self.delta)
        if self.max_samples_drawn is None:
            enough = Fixed.smallest(self.p0, self.delta, 20).samples
            object.__setattr__(self, "max_samples_drawn", max(512, enough))
        for name in ("max_samples_drawn", "batch"):
            object.__setattr__(self, name, positive_integer(name, getattr(self, name)))
        if not 0 <= self.futility < 1:
            raise AmbsError(f"futility is {self.futility:g}; wealth starts at 1, so it has to lie in [0, 1).")
        if isinstance(self.prior, tuple):
            if len(self.prior) != 2 or not min(self.prior) > 0:
                raise AmbsError(f"the prior {self.prior} has to be two positive numbers, or one p1 < p0.")
        elif not 0 <= self.prior < self.p0:
            raise AmbsError(f"the alternative {self.prior:g} has to lie in [0, p0) with p0 = {self.p0:g}.")

    @property
    def _cap(self) -> int:
        assert self.max_samples_drawn is not None
        return self.max_samples_drawn

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
        samples = (*range(self.batch, self._cap, self.batch), self._cap)
        lost, won = self._gain(np.array([0.0, 1.0]))
        n = np.array(samples)

        def most_violations(least: float, *, strictly: bool) -> np.ndarray:
            """For each look the most violations with a wealth of at least `least`: it falls with each, so halve."""
            low, high = np.full(len(n), -1), n + 1
            while np.any(high - low > 1):
                middle = np.maximum((low + high) // 2, 0)
                with np.errstate(invalid="ignore"):
                    gains = np.where(middle[:, None] > 0, middle[:, None] * lost, 0.0) + (n - middle)[:, None] * won
                wealth = self._log_wealth(gains)
                rich = (wealth > least) if strictly else (wealth >= least)
                move = high - low > 1
                low, high = np.where(move & rich, middle, low), np.where(move & ~rich, middle, high)
            return np.minimum(low, n)

        accept = most_violations(-np.log(self.delta), strictly=False)
        if accept[-1] < 0:
            raise AmbsError(f"{self._cap} traces are too few to ever accept; allow more.")
        give_up = most_violations(np.log(self.futility), strictly=True) + 1 if self.futility else n + 1
        reject = np.maximum(give_up, accept + 1)
        # Nor go on once even clean traces to the end could not bring acceptance: boundaries grow with n.
        reject = np.maximum(accept + 1, np.minimum(reject, accept[-1] + 1))
        return Looks(samples, tuple(accept.tolist()), tuple(reject.tolist()))

    def decide(self, draw: Callable[[int], np.ndarray]) -> Verdict:
        """Runs the test on values in [0, 1]; Boolean traces are 0 and 1."""
        nodes, _ = self._mixture
        gains, total, drawn = np.zeros(len(nodes)), 0.0, 0
        won = self._gain(np.ones(1))[0]
        while drawn < self._cap:
            wanted = min(self.batch, self._cap - drawn)
            values = np.asarray(draw(wanted), float)
            if values.shape != (wanted,) or not np.all((values >= 0) & (values <= 1)):
                raise AmbsError(f"draw({wanted}) has to return that many values in [0, 1], not {values}.")
            gains = gains + self._gain(values).sum(axis=0)
            total, drawn = total + float(values.sum()), drawn + len(values)
            # Now, and at the end if nothing more were to go wrong.
            remaining = (self._cap - drawn) * won
            wealth, at_best = self._log_wealth(np.stack([gains, gains + remaining]))
            if wealth >= -np.log(self.delta):
                return Verdict(True, drawn, total / drawn)
            if at_best < -np.log(self.delta) or (self.futility and wealth <= np.log(self.futility)):
                break
        return Verdict(False, drawn, total / drawn)

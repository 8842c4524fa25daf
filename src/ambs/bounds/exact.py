"""How many traces, without an inequality: the error of the paper's own rule, from the binomial distribution.

The rule accepts a state when the estimate is at least 1-Δ+ε, so when at most m(Δ-ε) of m traces violate. The
number of violations is binomial, and the probability of accepting a state that violates at a rate p₀ is a
finite sum. It is not monotone in m: it falls while the number of allowed violations stays the same, and jumps
when one more is allowed. A number of traces is therefore called enough when every larger number is enough
too.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.special import betaincc

from ambs.bounds.bound import Bound
from ambs.bounds.modelling import model_error
from ambs.bounds.search import smallest_integer
from ambs.errors import AmbsError, probability

# More jumps than this, or larger numbers of traces, take too long to look at.
_MOST_JUMPS, _MOST_TRACES = 20_000, 10**9


def exact_traces_required(Delta: float, epsilon: float, delta: float, p0: float | None = None) -> int:
    """The smallest m such that with m or more traces the rule wrongly accepts with probability at most δ.

    Args:
        Delta: The safety level Δ.
        epsilon: The margin ε: the rule accepts when the estimate is at least 1-Δ+ε.
        delta: The largest probability of accepting at the rate `p0`, and with it at every larger rate.
        p0: The violation rate to be rejected; Δ if not given, or `null_violation_rate` for a learned model.
    """
    Delta, epsilon, delta = (
        probability("Delta", Delta),
        probability("epsilon", epsilon),
        probability("delta", delta),
    )
    rate = Delta if p0 is None else probability("p0", p0)
    _may_accept(epsilon, Delta)
    share = _allowed_share(Delta, epsilon)
    if _decimal(rate) <= share:
        raise AmbsError(
            f"The rule allows a share of {float(share):g} violations, so it cannot reject a rate of p0 "
            f"{rate:g}; epsilon has to be larger than Delta - p0."
        )
    enough = smallest_integer(lambda traces: _enough(traces, share, rate, delta))
    assert enough is not None, "by Chernoff some number of traces is enough"
    return enough


def _may_accept(epsilon: float, safety_level: float) -> None:
    if epsilon > safety_level:
        raise AmbsError(f"epsilon is {epsilon:g}, above the safety level {safety_level:g}, so the rule never accepts.")


def _decimal(value: float) -> Fraction:
    """The number that was written: 0.09 is nine hundredths, and not the float that is nearest to it."""
    return Fraction(repr(float(value)))


def _allowed_share(Delta: float, epsilon: float) -> Fraction:
    # A rule that never accepts is never wrong either; no ε is an answer only for that reason.
    return max(Fraction(0), _decimal(Delta) - _decimal(epsilon))


def _enough(traces: int, share: Fraction, p0: float, delta: float) -> bool:
    """Whether `traces` and every larger number see so small a share at rate `p0` with probability at most δ.

    By Chernoff every m above log(1/δ) / KL(share‖p₀) is enough. Below, only the jumps have to be looked at:
    the first m with c allowed violations, ⌈c/share⌉, is the worst with that c. Most failures are among the
    first few jumps.
    """
    if share >= _decimal(p0):
        return False
    divergence = _divergence(float(share), p0)
    if traces > _MOST_TRACES:
        raise _too_long(share, p0)
    if delta < 0.1 and divergence * 20 * _MOST_TRACES < -math.log(delta):
        # So close that so few traces cannot tell the two apart better than a coin could.
        return False
    allowed = math.floor(traces * share)
    if _accepted([allowed], [traces], p0) > delta:
        return False
    last = float(share) * 1.01 * -math.log(delta) / divergence if divergence > 0 else math.inf
    first, many = allowed + 1, 64
    while first <= last:
        if many > _MOST_JUMPS or first > _MOST_TRACES * share:
            raise _too_long(share, p0)
        jumps = range(first, math.ceil(min(first + many, last + 1)))
        if np.any(_accepted(jumps, [math.ceil(c / share) for c in jumps], p0) > delta):
            return False
        first, many = first + many, 2 * many
    return True


def _too_long(share: Fraction, p0: float) -> AmbsError:
    return AmbsError(
        f"The exact count takes too long, because a share of {float(share):g} and a rate of {p0:g} are hard to "
        "tell apart, or the traces too many; use Theorem 1 or 2 instead, or a larger epsilon."
    )


def _accepted(violations: Sequence[int], traces: Sequence[int], p0: float) -> np.ndarray:
    """P(Bin(m, p₀) ≤ c) for each c and m, by the incomplete beta function, which is accurate for all m."""
    c, m = np.asarray(violations, dtype=float), np.asarray(traces, dtype=float)
    return np.asarray(betaincc(c + 1, m - c, p0))


def _divergence(q: float, p: float) -> float:
    """KL(q‖p) between a zero-or-one with mean q and one with mean p."""
    return (q * math.log(q / p) if q > 0 else 0.0) + (1 - q) * (math.log1p(-q) - math.log1p(-p))


def _true_chain(traces: int, epsilon: float, delta: float, safety_level: float) -> bool:
    return _enough(traces, _allowed_share(safety_level, epsilon), safety_level, delta)


def _learned_chain(traces: int, epsilon: float, delta: float, tv: float, horizon: int, safety_level: float) -> bool:
    p0 = safety_level - model_error(tv, horizon)
    return p0 > 0 and _enough(traces, _allowed_share(safety_level, epsilon), p0, delta)


_RULE = "The shield accepts when the mean of m independent traces is at least 1-Δ+ε; m is fixed beforehand."
_CLAIM = (
    "If μ < 1-Δ, the state is accepted with probability at most δ, with this m and every larger one. Nothing "
    "is said about the accuracy of the estimate, and nothing about more than one check."
)

EXACT = Bound(
    key="exact-binomial",
    title="Exact: traces of the true chain",
    statement="P(Bin(m', Δ) ≤ m'(Δ-ε)) ≤ δ for all m' ≥ m",
    source="exact counterpart of Theorem 1, for the shield's rule",
    sound=True,
    assumes=_RULE + " The traces are sampled from the true transition system.",
    claims=_CLAIM,
    smallest=("traces", "epsilon", "delta"),
    conditions=(_true_chain,),
    precondition=_may_accept,
)

EXACT_LEARNED = Bound(
    key="exact-binomial-learned",
    title="Exact: traces of a learned chain",
    statement="P(Bin(m', Δ-ξ) ≤ m'(Δ-ε)) ≤ δ for all m' ≥ m, with ξ = 1 - (1-α)^n",
    source="exact counterpart of Theorem 2, for the shield's rule",
    sound=True,
    assumes=(
        _RULE + " TV(T(·|s), T̂(·|s)) ≤ α at every safe state that both chains can reach in fewer than n steps "
        "through safe states."
    ),
    claims=_CLAIM,
    smallest=("traces", "epsilon", "delta"),
    largest=("tv", "horizon"),
    conditions=(_learned_chain,),
    precondition=_may_accept,
)

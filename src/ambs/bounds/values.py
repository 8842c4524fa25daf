"""How much experience, without a distance per step: bounds on the error of the probability of staying safe.

Total variation guards against every event, but the shield asks about one. Let V_k(s) be the true probability
of staying safe for k steps from s. Telescoping over the step at which the model is replaced by the truth,

    μ̂ - μ = Σ_t E_T̂[ 1{safe up to t} (T̂ - T) V_{n-t-1}(s_t) ]

so only the n fixed numbers (p̂ - p)·V_k per state and action have to be small. The factor 2^K of Weissman is
gone. The price is that V depends on the policy, which therefore must not depend on the counts.
"""

import math

from ambs.bounds.bound import Bound
from ambs.errors import positive_integer, probability


def hoeffding_value_error(visits: int, delta: float, horizon: int, *, states: int, actions: int) -> float:
    """How far the model's probability of staying safe is off at any state, except with probability δ.

        e = n sqrt(log(2nSA/δ) / (2m))

    Each (p̂ - p)·V_k is a mean of m numbers in [0, 1] around its expectation; Hoeffding bounds it, a union
    over n, S and A makes all of them small at once, and n of them add up along a trace.
    """
    horizon, tests = _tests(visits, delta, horizon, states, actions)
    return horizon * math.sqrt((math.log(2 * tests) - math.log(delta)) / 2 / visits)


def variance_aware_error(
    visits: int, delta: float, horizon: int, *, states: int, actions: int, mu: float | None = None
) -> float:
    """The same error, with Bernstein in place of Hoeffding: the largest e with

        e ≤ sqrt( (2Ln/m) (μ(1-μ) + e + n sqrt(L/2m)) ) + nL/(3m),     L = log(4nSA/δ)

    Whether a trace stays safe is one zero or one, so the variances of its n steps add up to about μ(1-μ), and
    not to n times the largest: the error grows like sqrt(n) instead of n. With b = 2Ln/m, c the terms next to
    e, and d = nL/(3m), the quadratic (e-d)² = b(c+e) gives e = d + b/2 + sqrt(b(b/4 + c + d)).

    Args:
        visits: The number m of visits to every state and action.
        delta: The probability, over the experience, that the error is larger.
        horizon: The number n of steps.
        states: The number of states the bounds are made for at once.
        actions: The number of actions.
        mu: The true probability of staying safe, at the state the claim is about; if unknown, the worst, 1/2.
            A guess is safe when the truth is no closer to 1/2.
    """
    horizon, tests = _tests(visits, delta, horizon, states, actions)
    variance = 0.25 if mu is None else probability("mu", mu, closed=True) * (1 - mu)
    log = math.log(4 * tests) - math.log(delta)
    b = 2 * log * horizon / visits
    c = variance + horizon * math.sqrt(log / 2 / visits)
    d = horizon * log / 3 / visits
    return d + b / 2 + math.sqrt(b * (b / 4 + c + d))


def _tests(visits: int, delta: float, horizon: int, states: int, actions: int) -> tuple[int, int]:
    """The horizon, and the number of state, action and step combinations, of arguments that make sense."""
    positive_integer("visits", visits)
    probability("delta", delta)
    horizon = positive_integer("horizon", horizon)
    return horizon, horizon * positive_integer("states", states) * positive_integer("actions", actions)


def _by_hoeffding(error: float, visits: int, delta: float, horizon: int, states: int, actions: int) -> bool:
    return error >= hoeffding_value_error(visits, delta, horizon, states=states, actions=actions)


def _by_bernstein(
    error: float, visits: int, delta: float, horizon: int, states: int, actions: int, mu: float | None = None
) -> bool:
    return error >= variance_aware_error(visits, delta, horizon, states=states, actions=actions, mu=mu)


_ASSUMES = (
    "Every action was taken m times in every state, the first m visits being counted, and the policy was "
    "chosen independently of these counts; a policy learned from the same experience needs the bound on α."
)
_CLAIMS = (
    "With probability at least 1-δ over the experience, the model's probability of staying safe for n steps "
    "is within e of the true one{where}. This δ comes on top of that of the sampled traces, and e takes the "
    "place of ξ in the corrected Theorem 2."
)

VALUE_HOEFFDING = Bound(
    key="value-hoeffding",
    title="Visits for the probability itself (Hoeffding)",
    statement="|μ - μ̂| ≤ e = n sqrt(log(2nSA/δ) / (2m))",
    source="tighter than Theorems 2 and 3 together",
    sound=True,
    assumes=_ASSUMES,
    claims=_CLAIMS.format(where=", at all states at once"),
    smallest=("visits", "error", "delta"),
    largest=("horizon",),
    conditions=(_by_hoeffding,),
)

VARIANCE_AWARE = Bound(
    key="variance-aware",
    title="Visits for the probability itself (Bernstein and total variance)",
    statement="e = sqrt((2Ln/m)(μ(1-μ) + e + n sqrt(L/2m))) + nL/(3m), L = log(4nSA/δ)",
    source="tighter than Theorems 2 and 3 together",
    sound=True,
    assumes=_ASSUMES + " If mu is given, the true μ is no closer to 1/2 than it.",
    claims=_CLAIMS.format(where=", at every state where the assumed μ is right"),
    smallest=("visits", "error", "delta"),
    largest=("horizon",),
    conditions=(_by_bernstein,),
)

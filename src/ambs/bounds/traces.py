"""How many traces: Theorem 1, where the sampled chain is the true one, and Theorem 2, where it is learned.

The estimate is a mean of m independent zeros and ones, so by Hoeffding it is further than a margin x from its
expectation with probability at most 2 exp(-2mx²), or exp(-2mx²) on one side only. All that differs between
the theorems is the margin: ε when the chain is the true one, and what the model's error leaves of ε when it
is learned.
"""

import math

from ambs.bounds.bound import Bound
from ambs.bounds.modelling import model_error, tv_budget
from ambs.bounds.quantities import one_of, rounded_up, sides_of
from ambs.errors import probability


def traces_required(epsilon: float, delta: float, model: str = "exact", sides: int = 2) -> int:
    """How many traces make the estimate ε-accurate except with probability δ.

        exact (Theorem 1)      m = log(sides/δ) / (2ε²)
        learned (Theorem 2)    m = 2 log(sides/δ) / ε²

    A learned model gets half of ε, so it has to be within `tv_budget(epsilon, horizon)` at every step: the
    printed ε/n is not enough. A shield only loses when the estimate is too high, for which `sides=1` is
    enough; `sides=2` is what the paper prints.
    """
    epsilon, delta = probability("epsilon", epsilon), probability("delta", delta)
    margin = epsilon if one_of("model", model, "exact", "learned") == "exact" else epsilon / 2
    return rounded_up(_hoeffding(margin, delta, sides_of(sides)), "traces")


def _hoeffding(margin: float, delta: float, sides: int) -> float:
    if margin <= 0:
        return math.inf
    # Divided one by one: the square of a small margin rounds to zero.
    return (math.log(sides) - math.log(delta)) / 2 / margin / margin


def _whole_margin(traces: int, epsilon: float, delta: float, sides: int = 2) -> bool:
    return traces >= _hoeffding(epsilon, delta, sides)


def _half_margin(traces: int, epsilon: float, delta: float, sides: int = 2) -> bool:
    return traces >= _hoeffding(epsilon / 2, delta, sides)


def _what_the_model_leaves(traces: int, epsilon: float, delta: float, tv: float, horizon: int, sides: int = 2) -> bool:
    return traces >= _hoeffding(epsilon - model_error(tv, horizon), delta, sides)


def _printed_budget(tv: float, epsilon: float, horizon: int) -> bool:
    return tv <= tv_budget(epsilon, horizon, "paper")


def _sound_budget(tv: float, epsilon: float, horizon: int) -> bool:
    return tv <= tv_budget(epsilon, horizon, "tight")


_PER_CHECK = (
    "This is about one check, of the task policy run unshielded for n steps, over the shield's own sampling; "
    "that one of N checks fails may have probability Nδ."
)

THEOREM_1 = Bound(
    key="theorem-1",
    title="Theorem 1: traces of the true chain",
    statement="m ≥ log(sides/δ) / (2ε²)",
    source="paper, Theorem 1",
    sound=True,
    assumes="The m traces are independent samples of the true transition system, and m is fixed beforehand.",
    claims=(
        "With probability at least 1-δ the estimate is within ε of μ (two sides), or at most ε above it (one "
        f"side). {_PER_CHECK}"
    ),
    smallest=("traces", "epsilon", "delta"),
    conditions=(_whole_margin,),
)

THEOREM_2_PAPER = Bound(
    key="theorem-2-paper",
    title="Theorem 2 as printed: traces of a learned chain",
    statement="m ≥ 2 log(sides/δ) / ε² and α ≤ ε/n",
    source="paper, Theorem 2, Eq. (5)",
    sound=False,
    assumes="TV(T(·|s), T̂(·|s)) ≤ α ≤ ε/n at every state, and m independent traces of the learned chain.",
    claims="Nothing: the theorem is false. The same m with α ≤ ε/(2n) is sound.",
    warning=(
        "False for n = 1: T stays safe for sure and T̂ is unsafe with probability α = ε, so the estimate is "
        "centred at distance ε and misses μ by more than ε about every second time, whatever m is. With "
        "ε = .09, δ = .01 and the printed m = 1309 it fails with probability .507 for n = 1, and still .319 "
        "for n = 30."
    ),
    smallest=("traces", "epsilon", "delta"),
    largest=("tv", "horizon"),
    conditions=(_half_margin, _printed_budget),
)

_COMMON_STATES = (
    "TV(T(·|s), T̂(·|s)) ≤ α at every safe state that both chains can reach in fewer than n steps through "
    "safe states, and m independent traces of the learned chain, m fixed beforehand."
)
_ABOUT_TRUTH = (
    "With probability at least 1-δ the estimate is within ε of the true μ (two sides), or at most ε above it "
    f"(one side). {_PER_CHECK} If α itself is only known with some confidence, that comes on top of δ."
)

THEOREM_2_HALF = Bound(
    key="theorem-2-half",
    title="Theorem 2 corrected: half of ε for the model",
    statement="m ≥ 2 log(sides/δ) / ε² and α ≤ 1 - (1-ε/2)^(1/n)",
    source="corrected Theorem 2",
    sound=True,
    assumes=_COMMON_STATES + " The α that is asked for is about ε/(2n).",
    claims=_ABOUT_TRUTH,
    smallest=("traces", "epsilon", "delta"),
    largest=("tv", "horizon"),
    conditions=(_half_margin, _sound_budget),
)

THEOREM_2_SOUND = Bound(
    key="theorem-2-sound",
    title="Theorem 2 corrected: the model takes what it needs of ε",
    statement="m ≥ log(sides/δ) / (2(ε-ξ)²) with ξ = 1 - (1-α)^n < ε",
    source="corrected Theorem 2, any split",
    sound=True,
    assumes=_COMMON_STATES,
    claims=_ABOUT_TRUTH,
    smallest=("traces", "epsilon", "delta"),
    largest=("tv", "horizon"),
    conditions=(_what_the_model_leaves,),
)

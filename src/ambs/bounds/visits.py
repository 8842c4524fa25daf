"""How much experience: visits to every state and action until a model made of counts is within α in TV.

A tabular model p̂(s'|s,a) = c(s',s,a)/v(s,a) is a vector of frequencies. The paper bounds each of its entries
by Hoeffding and adds them up, which costs a factor S². Weissman et al. (2003) bound the sum of the errors at
once, and only over the K states that can follow:

    P(‖p - p̂‖₁ ≥ x) ≤ (2^K - 2) exp(-mx²/2)

The K states need not be known, because frequencies never leave the support. Deterministic transitions, K = 1,
are known after one visit.
"""

import math

from ambs.bounds.bound import Bound
from ambs.bounds.quantities import one_of, rounded_up
from ambs.errors import positive_integer, probability


def visits_required(
    tv: float,
    delta: float,
    *,
    states: int,
    actions: int,
    successors: int | None = None,
    version: str = "sound",
    negligible_actions: bool = False,
) -> int:
    """How often every action has to be taken in every state so that the model is within `tv`.

        sound     m = log((2^K - 2) S A / δ) / (2α²)      for S states at once (Weissman)
        paper     m = S²/α² log(2 S A / δ)                for one state (Theorem 3; true, but far too many)

    Args:
        tv: The distance α between the true and the counted next-state distributions.
        delta: The probability, over the experience, that some distance is larger.
        states: For `sound`, the number of states the claim is made for at once: 1, together with
            `successors`, for a single state. For `paper`, the size of the state space; the claim is for one
            state only, and dividing `delta` by the number of states makes it one for all.
        actions: The number of actions.
        successors: The largest number K of states that can follow a state and action; `states` if not given.
            For `paper` it stands for S, as the paper suggests for grid worlds.
        version: `sound` or `paper`.
        negligible_actions: Whether actions that the policy takes with probability below η = α/(2A) may be
            left unvisited. They take up half of the distance, and so the visits become four times as many.
            The paper's version always allows it, with η = α/(AS).
    """
    tv, delta = probability("tv", tv), probability("delta", delta)
    states, actions = positive_integer("states", states), positive_integer("actions", actions)
    successors = states if successors is None else positive_integer("successors", successors)
    if one_of("version", version, "sound", "paper") == "paper":
        return rounded_up(_entrywise(tv, delta, successors, actions), "visits")
    return rounded_up(_weissman(tv, delta, states, actions, successors, negligible_actions), "visits")


def _entrywise(tv: float, delta: float, states: int, actions: int) -> float:
    return (math.log(2 * states * actions) - math.log(delta)) * (states / tv) * (states / tv)


def _weissman(tv: float, delta: float, states: int, actions: int, successors: int, negligible: bool) -> float:
    if successors == 1:
        return 1.0
    log_sets = successors * math.log(2) + math.log1p(-(2.0 ** (1 - successors)))
    exponent = log_sets + math.log(states * actions) - math.log(delta)
    return exponent / 2 / tv / tv * (4 if negligible else 1)


def _printed(visits: int, tv: float, delta: float, states: int, actions: int, successors: int | None = None) -> bool:
    return tv > 0 and visits >= _entrywise(tv, delta, successors or states, actions)


def _all_at_once(
    visits: int,
    tv: float,
    delta: float,
    states: int,
    actions: int,
    successors: int | None = None,
    negligible_actions: bool = False,
) -> bool:
    successors = successors or states
    possible = tv > 0 or successors == 1
    return possible and visits >= _weissman(tv, delta, states, actions, successors, negligible_actions)


_FIXED = "the first m visits of each are counted, because a number of visits that the data decides is not covered"

THEOREM_3_PAPER = Bound(
    key="theorem-3-paper",
    title="Theorem 3: visits for a tabular model, one state",
    statement="m ≥ S²/α² log(2SA/δ)",
    source="paper, Theorem 3",
    sound=True,
    assumes=(
        "Every action that the policy takes with probability at least η = α/(AS) was taken m times in the "
        f"state; {_FIXED}. With successors given, S stands for the number of states that can follow."
    ),
    claims=(
        "With probability at least 1-δ over the experience, the chain is within α in this one state. Theorem "
        "2 needs all states: divide δ by their number. True, but often a thousand times more than it takes."
    ),
    smallest=("visits", "tv", "delta"),
    conditions=(_printed,),
)

WEISSMAN = Bound(
    key="weissman",
    title="Weissman: visits for a tabular model, all states",
    statement="m ≥ log((2^K-2) S A / δ) / (2α²)",
    source="tighter Theorem 3 (Weissman et al. 2003)",
    sound=True,
    assumes=(
        f"Every action was taken m times in each of the S states; {_FIXED}. At most K states follow each "
        "state and action (all S of them if successors is not given). With negligible actions, those below "
        "η = α/(2A) may be unvisited, at four times the visits."
    ),
    claims=(
        "With probability at least 1-δ over the experience, the chain of every policy is within α in all S "
        "states at once, also of a policy learned from the same experience. This δ comes on top of that of "
        "the sampled traces."
    ),
    smallest=("visits", "tv", "delta"),
    conditions=(_all_at_once,),
)

"""The chains and MDPs that the theorems are tried on, all with the label `unsafe`, and their exact μ.

μ(s) is the probability of `G<=n !unsafe`, states 0 to n, by model checking.
"""

from __future__ import annotations

import dataclasses
from functools import cache

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from ambs.envs import ACTIONS, Conveyor
from ambs.logic import FiniteModel, check, parse
from ambs.runs.tabular.exact import Truth

POLICIES = ("blind", "random", "tipsy", "safe")


def exact(chain: FiniteModel, horizon: int) -> Float[np.ndarray, " states"]:
    """μ in every state."""
    values = check(chain, parse(f"P=? [ G<={horizon} !unsafe ]")).values
    assert values is not None
    return values


def safe_states(model: FiniteModel) -> Bool[np.ndarray, " states"]:
    return ~model.labels["unsafe"]


def hazard(alpha: float) -> FiniteModel:
    """State 0 is safe and stays so but for a probability α a step; state 1 is unsafe for ever: μ(0) = (1-α)^n.

    With α = 0 it is the truth, and with α > 0 the model, of the counterexample to Theorem 2 as printed.
    """
    return FiniteModel.chain(np.array([[1 - alpha, alpha], [0.0, 1.0]]), {"unsafe": np.array([False, True])})


def swap(share: float) -> FiniteModel:
    """From state 0 to state 1, safe, or state 2, unsafe, evenly; then these change places with probability `share`.

    Half of the traces are in each of the two at any time, whatever the share; but only who stays in 1 is safe:
    μ(0) = (1 - share)^(n-1) / 2. With share 0 it is the truth, and with another the model, of the counterexample to
    the proof of Theorem 2, which looks at where traces are and not at where they have been.
    """
    kernel = np.array([[0.0, 0.5, 0.5], [0.0, 1 - share, share], [0.0, share, 1 - share]])
    return FiniteModel.chain(kernel, {"unsafe": np.array([False, False, True])})


def towards_unsafe(chain: FiniteModel, alpha: float) -> FiniteModel:
    """T̂ = (1-α)T + α 1{the first unsafe state}, at safe states: a model that is α too afraid everywhere.

    Its total variation from T is α(1 - T(that state|s)), so at most α.
    """
    safe = safe_states(chain)
    goes = np.where(safe, alpha, 0.0)
    unsafe = int(np.flatnonzero(~safe)[0])
    shift = sparse.csr_array((goes, (np.arange(chain.states), np.full(chain.states, unsafe))), shape=chain.kernel.shape)
    return FiniteModel.chain(sparse.csr_array(sparse.diags_array(1 - goes) @ chain.kernel + shift), chain.labels)


def distance(one: FiniteModel, other: FiniteModel) -> Float[np.ndarray, " states"]:
    """Total variation between two chains' next-state distributions, in every state."""
    return np.asarray(abs(one.kernel - other.kernel).sum(axis=1)).ravel() / 2


def random_kernel(
    rng: np.random.Generator, states: int, actions: int, successors: int
) -> Float[np.ndarray, "states actions states"]:
    """From each state and action to so many random states, with Dirichlet(1) probabilities."""
    kernel = np.zeros((states, actions, states))
    chosen = rng.random(kernel.shape).argsort(axis=2)[:, :, :successors]
    np.put_along_axis(kernel, chosen, rng.dirichlet(np.ones(successors), (states, actions)), axis=2)
    return kernel


def random_mdp(rng: np.random.Generator, states: int, actions: int, successors: int) -> FiniteModel:
    """A random kernel, of whose states every tenth is unsafe; what happens there is as random as elsewhere."""
    unsafe = np.arange(states) >= states - max(1, states // 10)
    return FiniteModel.mdp(random_kernel(rng, states, actions, successors), {"unsafe": unsafe})


def rare_hazard_mdp(
    rng: np.random.Generator, states: int, actions: int, hazard: float, successors: int = 1
) -> FiniteModel:
    """Safe states among which actions move, but for a small probability to end up in the last, unsafe for ever."""
    kernel = np.zeros((states, actions, states))
    kernel[:-1, :, :-1] = (1 - hazard) * random_kernel(rng, states - 1, actions, successors)
    kernel[:-1, :, -1] = hazard
    kernel[-1, :, -1] = 1
    return FiniteModel.mdp(kernel, {"unsafe": np.arange(states) == states - 1})


def coins_mdp(actions: int) -> FiniteModel:
    """Two safe states between which the first action throws a fair coin; every other action ends in the third, unsafe.

    What a policy hardly ever does is here all that is dangerous, and shares no successor with what it does.
    """
    kernel = np.zeros((3, actions, 3))
    kernel[:2, 0, :2] = 0.5
    kernel[:2, 1:, 2] = 1
    kernel[2, :, 2] = 1
    return FiniteModel.mdp(kernel, {"unsafe": np.arange(3) == 2})


def random_policy(rng: np.random.Generator, model: FiniteModel) -> Float[np.ndarray, "states actions"]:
    actions = model.choices // model.states
    return rng.dirichlet(np.ones(actions), model.states)


@cache
def conveyor(map: str) -> FiniteModel:
    """The conveyor world's exact MDP; acid is what is unsafe."""
    mdp = Conveyor(map).mdp()
    return dataclasses.replace(mdp, labels={"unsafe": mdp.labels["acid"]})


@cache
def conveyor_policy(map: str, policy: str) -> Float[np.ndarray, "states 5"]:
    """One of four policies that are risky in different ways.

    `blind` delivers most and does not know of acid; `random` is uniform; `tipsy` is blind, but one action in five is
    random; `safe` delivers most among the actions that are safest.
    """
    truth, actions = Truth.of(Conveyor(map)), len(ACTIONS)
    uniform = np.full((len(truth.kernel), actions), 1 / actions)
    if policy == "random":
        return uniform
    greedy = np.eye(actions)[truth.safest() if policy == "safe" else truth.best()]
    return 0.8 * greedy + 0.2 * uniform if policy == "tipsy" else greedy


def satisfied_traces(
    rng: np.random.Generator, chain: FiniteModel, start: int, horizon: int, traces: int, repeats: int
) -> Int[np.ndarray, " repeats"]:
    """How many of `traces` sampled traces from `start` are safe for `horizon` steps, drawn `repeats` times.

    All traces walk at once: those in one state split over its successors multinomially, which is the same as letting
    each walk alone, and takes no more time for many. Unsafe ones are dropped.
    """
    kernel, safe = chain.kernel, safe_states(chain)
    here = np.zeros((repeats, chain.states), dtype=np.int64)
    here[:, start] = traces * bool(safe[start])
    for _ in range(horizon):
        following = np.zeros_like(here)
        for state in np.flatnonzero(here.any(axis=0)):
            row = slice(kernel.indptr[state], kernel.indptr[state + 1])
            split = rng.multinomial(here[:, state], kernel.data[row] / kernel.data[row].sum())
            following[:, kernel.indices[row]] += split
        here = np.where(safe, following, 0)
    return here.sum(axis=1)

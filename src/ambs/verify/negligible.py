"""Theorem 3 where a policy hardly ever takes some actions: those below η may be unvisited, and what should η be?

The statement has η ≥ α/(AS), its proof η ≥ α/A, and the corrected one η = α/(2A) with four times the visits. Here each
policy takes one action and all others with a probability just below η. The others are never tried, so the model sends
them to the unsafe sink, which is as far from the truth as a row can be. All else is counted from exactly the visits
asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from ambs.bounds import visits_required
from ambs.logic import FiniteModel
from ambs.tabular.counts import VisitCounts
from ambs.verify import families
from ambs.verify.experience import World, gather
from ambs.verify.settings import Job, Settings, Tables
from ambs.verify.statistics import observed
from ambs.verify.theorem3 import ALPHA, DELTA
from ambs.verify.theorem3_models import corrected, printed

# A world, and the action that the policy takes in each of its states.
Draw = Callable[[np.random.Generator], tuple[FiniteModel, Int[np.ndarray, " states"]]]
# Of η: just below it.
RARE = 0.999


@dataclass(frozen=True)
class Condition:
    """What may be left unvisited, and how often the rest has to be visited, for S, A and K."""

    name: str
    eta: Callable[[int, int], float]
    visits: Callable[[int, int, int], int]
    claimed: bool = True


def _fourfold(states: int, actions: int, successors: int) -> int:
    return visits_required(ALPHA, DELTA, states=states, actions=actions, successors=successors, negligible_actions=True)


CONDITIONS = (
    Condition("printed, η = α/(AS)", lambda states, actions: ALPHA / actions / states, printed),
    Condition("printed, a larger η = 2α/A", lambda states, actions: 2 * ALPHA / actions, printed),
    Condition("its proof, η = α/A", lambda states, actions: ALPHA / actions, printed),
    Condition("corrected, η = α/(2A)", lambda states, actions: ALPHA / actions / 2, _fourfold),
    # That the four times are not for nothing.
    Condition("corrected without × 4", lambda states, actions: ALPHA / actions / 2, corrected, claimed=False),
)


def jobs(settings: Settings) -> list[Job]:
    return [partial(_row, settings, *case, condition) for case in CASES for condition in CONDITIONS]


def _coins(rng: np.random.Generator) -> tuple[FiniteModel, Int[np.ndarray, " states"]]:
    return families.coins_mdp(20), np.zeros(3, dtype=np.int64)


def _random(rng: np.random.Generator) -> tuple[FiniteModel, Int[np.ndarray, " states"]]:
    return families.random_mdp(rng, 20, 10, 4), rng.integers(10, size=20)


def _conveyor(rng: np.random.Generator) -> tuple[FiniteModel, Int[np.ndarray, " states"]]:
    return families.conveyor("small"), families.conveyor_policy("small", "blind").argmax(axis=1)


CASES: tuple[tuple[str, Draw], ...] = (
    ("coins, other actions unsafe", _coins),
    ("random sparse, 4 successors", _random),
    ("conveyor small, blind policy", _conveyor),
)


def negligible_policy(
    main: Int[np.ndarray, " states"], actions: int, eta: float
) -> Float[np.ndarray, "states {actions}"]:
    """One action a state, and every other with a probability just below η."""
    policy = np.full((len(main), actions), RARE * eta)
    policy[np.arange(len(main)), main] = 1 - (actions - 1) * RARE * eta
    return policy


def chain_distance(
    mdp: FiniteModel, counts: VisitCounts, policy: Float[np.ndarray, "states actions"]
) -> Float[np.ndarray, " states"]:
    """Total variation between the policy's true chain and the counted one, in every state but the sink."""
    kernel = mdp.kernel.toarray().reshape(mdp.states, -1, mdp.states)
    truth = np.pad(np.einsum("sa,sat->st", policy, kernel), ((0, 0), (0, 1)))
    learned = np.einsum("sa,sat->st", policy, counts.kernel(1.0)[:-1])
    return np.abs(truth - learned).sum(axis=1) / 2


def _row(settings: Settings, name: str, draw: Draw, condition: Condition, rng: np.random.Generator) -> Tables:
    distances = []
    for _ in range(settings.experiences):
        mdp, main = draw(rng)
        world = World.of(mdp)
        states, actions, most = world.shape
        eta, visits = condition.eta(states, actions), condition.visits(states, actions, most)
        counts = gather(rng, world, np.eye(actions)[main], visits)
        distances.append(chain_distance(mdp, counts, negligible_policy(main, actions, eta)).max())
    share = observed(int(np.sum(np.array(distances) > ALPHA)), len(distances))
    return {
        "theorem_3_negligible": [
            {
                "case": name,
                "states": states,
                "actions": actions,
                "successors": most,
                "condition": condition.name,
                "eta": eta,
                "visits": visits,
                "unvisited": (actions - 1) * RARE * eta,
                "alpha": ALPHA,
                "mean_tv": float(np.mean(distances)),
                "claimed": DELTA if condition.claimed else None,
                "holds": share["low"] <= DELTA,
                **share,
            }
        ]
    }

"""Experience under a policy, counted: episodes from every state, until every pair that the policy takes was visited.

Theorem 3 speaks of visits, and whoever acts cannot choose how many there are: some pairs have m long before others.
Printed, it uses all visits once there are at least m; its proof needs a number that the outcomes do not decide, and so
the corrected one uses the first m of each pair.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ambs.logic import FiniteModel
from ambs.tabular.counts import VisitCounts

# Short, so that states which nothing leads back to are started in often enough.
EPISODE = 10


@dataclass(frozen=True)
class World:
    """An MDP with the same actions everywhere, as a list of the K states that can follow each pair."""

    successors: Int[np.ndarray, "states actions successors"]
    probabilities: Float[np.ndarray, "states actions successors"]

    @classmethod
    def of(cls, mdp: FiniteModel) -> World:
        kernel = mdp.kernel.toarray().reshape(mdp.states, -1, mdp.states)
        most = int((kernel > 0).sum(axis=2).max())
        successors = np.argsort(-kernel, axis=2, kind="stable")[:, :, :most]
        probabilities = np.take_along_axis(kernel, successors, axis=2)
        return cls(successors, probabilities / probabilities.sum(axis=2, keepdims=True))

    @property
    def shape(self) -> tuple[int, int, int]:
        """S, A and K."""
        states, actions, most = self.successors.shape
        return states, actions, most

    def counted(self, outcomes: Int[np.ndarray, "states actions successors"]) -> VisitCounts:
        states, actions, _ = self.shape
        counts = VisitCounts(states, actions)
        np.put_along_axis(counts.transitions, self.successors, outcomes.astype(float), axis=2)
        return counts


def gather(
    rng: np.random.Generator,
    world: World,
    behaviour: Float[np.ndarray, "states actions"],
    visits: int,
    *,
    all_used: bool = False,
) -> VisitCounts:
    """Rounds of episodes, `visits` from every state, until each pair that `behaviour` takes has had so many visits.

    Only the first `visits` of a pair are counted, or, with `all_used`, all of them. The episodes of a round walk at
    once: those in one state split over its actions, and these over their successors, multinomially. Which of the visits
    of one moment come first does not matter, as they have independent outcomes.
    """
    states, actions, _ = world.shape
    outcomes = np.zeros(world.shape, dtype=np.int64)
    seen = np.zeros((states, actions), dtype=np.int64)
    while np.any(seen[behaviour > 0] < visits):
        here = np.full(states, visits, dtype=np.int64)
        for _ in range(EPISODE):
            taken = rng.multinomial(here, behaviour)
            kept = taken if all_used else np.minimum(taken, np.maximum(visits - seen, 0))
            counted = rng.multinomial(kept, world.probabilities)
            moved = counted + rng.multinomial(taken - kept, world.probabilities)
            outcomes += counted
            seen += taken
            here = np.zeros(states, dtype=np.int64)
            np.add.at(here, world.successors, moved)
    return world.counted(outcomes)

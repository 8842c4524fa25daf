"""The truth about a policy in a conveyor world: its deliveries, its baths and its μ, from the exact kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from ambs.envs import Conveyor
from ambs.tabular import reward_values, safest_actions, safety_values

# As Gymnasium's ids have it; a return is the deliveries of an episode.
EPISODE = 100


@dataclass(frozen=True)
class Truth:
    """The tables of a world, and what follows from them."""

    kernel: Float[np.ndarray, "states 5 states"]
    reward: Float[np.ndarray, "states 5"]
    acid: np.ndarray
    start: int

    @classmethod
    def of(cls, world: Conveyor) -> Truth:
        model = world.mdp()
        kernel = model.kernel.toarray().reshape(model.states, -1, model.states)
        return cls(kernel, world.rewards(), np.asarray(model.labels["acid"]), world.layout.start)

    def best(self, discount: float = 0.99) -> Int[np.ndarray, " states"]:
        """The best policy for reward, blind to acid."""
        return _first_best(reward_values(self.kernel, self.reward, discount))

    def safest(self, steps: int = 1000, discount: float = 0.99) -> Int[np.ndarray, " states"]:
        """The safest policy, and among the equally safe the best for reward."""
        allowed = safest_actions(safety_values(self.kernel, ~self.acid, steps))
        return _first_best(reward_values(self.kernel, self.reward, discount, allowed=allowed))

    def episode(self, policy: Float[np.ndarray, "states 5"]) -> tuple[float, float]:
        """Expected deliveries and baths of an episode from the start."""
        chain = np.einsum("sa,sat->st", policy, self.kernel)
        pay = (policy * self.reward).sum(axis=1)
        where, deliveries, baths = np.eye(len(chain))[self.start], 0.0, 0.0
        for _ in range(EPISODE):
            deliveries += float(where @ pay)
            where = where @ chain
            baths += float(where @ self.acid)
        return deliveries, baths

    def mu(self, policy: Float[np.ndarray, "states 5"], steps: int) -> Float[np.ndarray, "states 5"]:
        """The probability that the `steps` states after each action are free of acid, going on with `policy`."""
        return safety_values(self.kernel, ~self.acid, steps, policy)

    def shielded(
        self, task: Int[np.ndarray, " states"], backup: Int[np.ndarray, " states"], steps: int, threshold: float
    ) -> Float[np.ndarray, "states 5"]:
        """What is played when a shield without any error stands between: the task policy where its μ is enough."""
        states = np.arange(len(task))
        enough = self.mu(np.eye(5)[task], steps)[states, task] >= threshold
        return np.eye(5)[np.where(enough, task, backup)]


def _first_best(values: Float[np.ndarray, "states actions"]) -> Int[np.ndarray, " states"]:
    """The first of equals, on every machine."""
    return (values >= values.max(axis=1, keepdims=True) - 1e-8).argmax(axis=1)

"""The truth about a policy in a conveyor world: its deliveries, its violations and its μ, from the exact kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ambs.envs import Conveyor
from ambs.logic import holds, parse, syntax
from ambs.tabular import reward_values, safest_actions, safety_values

# As Gymnasium's ids have it; a return is the deliveries of an episode.
EPISODE = 100


@dataclass(frozen=True)
class Truth:
    """The tables of a world, and what follows from them."""

    kernel: Float[np.ndarray, "states 5 states"]
    reward: Float[np.ndarray, "states 5"]
    unsafe: Bool[np.ndarray, " states"]
    start: int

    @classmethod
    def of(cls, world: Conveyor, safe: str | syntax.Formula = "!acid") -> Truth:
        model = world.mdp()
        kernel = model.kernel.toarray().reshape(model.states, -1, model.states)
        formula = parse(safe) if isinstance(safe, str) else safe
        return cls(kernel, world.rewards(), ~np.asarray(holds(formula, model.labels)), world.layout.start)

    def best(self, discount: float = 0.99) -> Int[np.ndarray, " states"]:
        """The best stationary policy for discounted reward, blind to safety."""
        return _first_best(reward_values(self.kernel, self.reward, discount))

    def safest(self, discount: float = 0.99) -> Int[np.ndarray, " states"]:
        """The safest stationary policy, and among the equally safe the best for discounted reward."""
        return _first_best(reward_values(self.kernel, self.reward, discount, allowed=self._as_safe_as_can_be()))

    def most(self, *, safe: bool) -> float:
        """The most that any policy delivers in an episode; `safe`, of those that are as safe as can be throughout."""
        allowed = self._as_safe_as_can_be() if safe else np.ones(self.reward.shape, bool)
        value = np.zeros(len(self.kernel))
        for _ in range(EPISODE):
            value = np.where(allowed, self.reward + self.kernel @ value, -np.inf).max(axis=1)
        return float(value[self.start])

    def episode(self, policy: Float[np.ndarray, "states 5"]) -> tuple[float, float]:
        """Expected deliveries and violations of an episode from the start."""
        chain = np.einsum("sa,sat->st", policy, self.kernel)
        pay = (policy * self.reward).sum(axis=1)
        where, deliveries, violations = np.eye(len(chain))[self.start], 0.0, 0.0
        for _ in range(EPISODE):
            deliveries += float(where @ pay)
            where = where @ chain
            violations += float(where @ self.unsafe)
        return deliveries, violations

    def mu(self, policy: Float[np.ndarray, "states 5"], steps: int) -> Float[np.ndarray, "states 5"]:
        """The probability that the `steps` states after each action are safe, going on with `policy`."""
        return safety_values(self.kernel, ~self.unsafe, steps, policy)

    def shielded(
        self, task: Int[np.ndarray, " states"], backup: Int[np.ndarray, " states"], steps: int, threshold: float
    ) -> Float[np.ndarray, "states 5"]:
        """What is played when a shield without any error stands between: the task policy where its μ is enough."""
        states = np.arange(len(task))
        enough = self.mu(np.eye(5)[task], steps)[states, task] >= threshold
        return np.eye(5)[np.where(enough, task, backup)]

    def _as_safe_as_can_be(self) -> Bool[np.ndarray, "states 5"]:
        """The actions after which a violation is as unlikely as can be, in ten episodes."""
        return safest_actions(safety_values(self.kernel, ~self.unsafe, 10 * EPISODE))


def _first_best(values: Float[np.ndarray, "states actions"]) -> Int[np.ndarray, " states"]:
    """The first of equals, on every machine."""
    return (values >= values.max(axis=1, keepdims=True) - 1e-8).argmax(axis=1)

"""What safety costs on the conveyor, exactly: the best return of 100 steps, by dynamic programming.

bars      among policies that play only safe enough actions: with the safest policy after it, the formula holds for
          30 steps with probability at least x; where no action is, the safest is played
frontier  among all policies that break the formula no more than so often on average: the best for a price of
          each violation, for all prices; between two of them, a coin chooses one before the episode
lasting   the same in the long run, of 100 steps among many, where nobody knows of an end: a linear program over how
          often each action is played in each cell
unaware   of one episode again, policies that do not know how many steps are left, as those of agents here: the best
          for a price of each violation, by discounted values, and what they come to in 100 steps

python -m experiments.conveyor_price
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from scipy.optimize import linprog

from ambs.envs import Conveyor
from ambs.files import write_text
from ambs.shield import ClassicalShield

PATH = Path(__file__).parent.parent / "results" / "conveyor_price.json"
STEPS, LOOK_AHEAD = 100, 30
BARS = (0.0, 0.9, 0.94, 0.96, 0.99)
# Of a violation, in deliveries; beyond the last nobody comes near the acid.
PRICES = (0.0, *np.geomspace(1e-3, 100, 401))
# Of the agents' values.
DISCOUNT = 0.997
AT_MOST = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.2)


class World:
    """The conveyor world as matrices."""

    def __init__(self) -> None:
        env = Conveyor()
        self.states, self.start = env.layout.states, env.layout.start
        self.acid = np.array([tile == "A" for tile in env.layout.tiles])
        self.kernel = env.mdp().kernel.toarray().reshape(self.states, 5, self.states)
        self.rewards = env.rewards()
        self.safety = np.asarray(ClassicalShield(env.mdp(), "!acid", horizon=LOOK_AHEAD).safety)

    def best(self, allowed: np.ndarray, price: float = 0.0) -> dict[str, float]:
        """Return and violations, as they are to be expected, of the policy that is best at this price."""
        value, returns, violations = np.zeros((3, self.states))
        for _ in range(STEPS):
            worth = np.where(allowed, self.rewards + self.kernel @ (value - price * self.acid), -np.inf)
            choice = worth.argmax(axis=1)
            following = self.kernel[np.arange(self.states), choice]
            value = worth.max(axis=1)
            returns = np.take_along_axis(np.broadcast_to(self.rewards, worth.shape), choice[:, None], 1)[:, 0] + (
                following @ returns
            )
            violations = following @ (self.acid + violations)
        return {"return": round(float(returns[self.start]), 3), "violations": round(float(violations[self.start]), 3)}

    def bar(self, bar: float) -> dict[str, float]:
        allowed = (self.safety >= bar) | (self.safety >= self.safety.max(axis=1, keepdims=True) - 1e-9)
        return {"at_least": bar, **self.best(allowed)}

    def frontier(self) -> list[dict[str, float]]:
        """The corners, from the most violations to the fewest."""
        found = [self.best(np.ones_like(self.safety, bool), price) for price in PRICES]
        return [each for i, each in enumerate(found) if each not in found[:i]]

    def unaware(self) -> list[dict[str, float]]:
        """The corners, from the most violations to the fewest."""
        found = [self._unaware(price) for price in PRICES[::8]]
        return [each for i, each in enumerate(found) if each not in found[:i]]

    def _unaware(self, price: float) -> dict[str, float]:
        value, rows = np.zeros(self.states), np.arange(self.states)
        while True:
            worth = self.rewards + self.kernel @ (DISCOUNT * value - price * self.acid)
            if np.abs(worth.max(axis=1) - value).max() < 1e-9:
                break
            value = worth.max(axis=1)
        choice, returns, violations = worth.argmax(axis=1), *np.zeros((2, self.states))
        following = self.kernel[rows, choice]
        paid = np.broadcast_to(self.rewards, worth.shape)[rows, choice]
        for _ in range(STEPS):
            returns, violations = paid + following @ returns, following @ (self.acid + violations)
        return {"violations": round(float(violations[self.start]), 3), "return": round(float(returns[self.start]), 3)}

    def lasting(self, violations: float) -> float:
        """The best return of 100 steps in the long run, with no more violations than that."""
        following = self.kernel.reshape(-1, self.states)
        leaves = np.repeat(np.eye(self.states), 5, axis=1)
        found = linprog(
            -STEPS * self.rewards.reshape(-1),
            A_ub=[STEPS * (following @ self.acid)], b_ub=[violations],
            A_eq=np.vstack([leaves - following.T, np.ones(self.states * 5)]), b_eq=[*np.zeros(self.states), 1.0],
        )  # fmt: skip
        assert found.success, found.message
        return round(-float(found.fun), 3)


def at_most(frontier: list[dict[str, float]], violations: float) -> float:
    """The best return with no more violations than that."""
    corners = sorted((each["violations"], each["return"]) for each in frontier)
    return float(np.interp(violations, *zip(*corners, strict=True)))


def main() -> None:
    world = World()
    corners = world.frontier()
    found = {
        "bars": [world.bar(bar) for bar in BARS],
        "frontier": [{"violations": most, "return": round(at_most(corners, most), 3)} for most in AT_MOST],
        "lasting": [{"violations": most, "return": world.lasting(most)} for most in AT_MOST],
        "unaware": world.unaware(),
    }
    write_text(PATH, json.dumps(found, indent=1) + "\n")
    for row in (*found["bars"], *found["frontier"], *found["lasting"], *found["unaware"]):
        print(row)


if __name__ == "__main__":
    main()

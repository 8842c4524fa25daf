"""What other people's safe environments emit, as labels: here a cost, in `info["cost"]` or as a sixth value of a step.

Label sets need no adapter: `labelled(env, formula=..., atoms=[...])` takes them from `info["labels"]`.
"""

from __future__ import annotations

import math
from typing import Any

import gymnasium

from ambs.envs.labelling import Labelled, five_tuple, labelled
from ambs.errors import AmbsError


def from_cost(env: gymnasium.Env[Any, Any], cost: float = 10.0) -> Labelled:
    """An environment that gives costs, with the atom `violation` where its cost is above 0, and the formula !violation.

    `info["cost"]` is then 0 or C = `cost`, as everywhere in ambs; what the environment gave is `info["given_cost"]`.
    """
    return labelled(GivenCost(env), formula="!violation", cost=cost)


class GivenCost(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Puts the label `violation` where the environment's own cost is above 0.

    A reset that gives no cost costs nothing, for so it is in Safety-Gymnasium; a step has to give one.
    """

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._labelled({"cost": 0.0, **info})

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = five_tuple(self.env.step(action))
        return observation, reward, terminated, truncated, self._labelled(info)

    def _labelled(self, info: dict[str, Any]) -> dict[str, Any]:
        if "cost" not in info:
            raise AmbsError(f"a step of {self.env} gave no cost, neither in its info nor as a sixth value.")
        given = info["cost"]
        try:
            amount = float(given)
        except (TypeError, ValueError):
            amount = math.nan
        if not amount >= 0:
            raise AmbsError(f"the environment's cost is {given!r}, and has to be a number that is at least 0.")
        return {**info, "given_cost": amount, "labels": {"violation": amount > 0}}

"""What others emit: a cost in info, a cost as a sixth value, sets of labels.

Safety-Gymnasium itself is not among the dependencies, so an environment with its interface stands in for it here.
"""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from ambs import AmbsError
from ambs.envs.adapters import from_cost
from ambs.envs.labelling import labelled


class Hazards(gymnasium.Env):
    """Walks along a line; from 3 on every place costs, more the further it is. Gives its cost where it is told to."""

    observation_space = spaces.Box(-100.0, 100.0, (1,), np.float64)
    action_space = spaces.Discrete(2)

    def __init__(self, where: str) -> None:
        self.where = where

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 0
        return np.zeros(1), {}

    def step(self, action):
        self.place += int(action)
        cost = 0.5 * max(self.place - 2, 0)
        observation, info = np.array([float(self.place)]), {"place": self.place}
        if self.where == "sixth value":
            return observation, 1.0, cost, False, self.place > 4, {**info, "cost_hazards": cost}
        if self.where == "info":
            return observation, 1.0, False, self.place > 4, {**info, "cost": cost}
        return observation, 1.0, False, self.place > 4, info


@pytest.mark.parametrize("where", ["sixth value", "info"])
def test_a_cost_becomes_a_label(where):
    env = from_cost(Hazards(where), cost=7.0)
    _, info = env.reset(seed=0)
    assert (info["labels"], info["cost"], info["given_cost"]) == ({"violation": False}, 0.0, 0.0)
    steps = [env.step(1) for _ in range(5)]
    assert [step[-1]["labels"]["violation"] for step in steps] == [False, False, True, True, True]
    assert [step[-1]["cost"] for step in steps] == [0.0, 0.0, 7.0, 7.0, 7.0]
    assert [step[-1]["given_cost"] for step in steps] == [0.0, 0.0, 0.5, 1.0, 1.5]
    assert [step[3] for step in steps] == [False, False, False, False, True]
    assert all(len(step) == 5 and step[1] == 1.0 and not step[2] for step in steps)
    assert steps[-1][-1]["place"] == 5


def test_six_values_and_labels_of_your_own():
    env = labelled(
        Hazards("sixth value"),
        {"far": lambda place, info: place[0] > 1, "hazard": lambda place, info: info.get("cost_hazards", 0) > 0},
        formula="far => !hazard",
    )
    env.reset(seed=0)
    infos = [env.step(1)[-1] for _ in range(3)]
    assert [info["labels"] for info in infos] == [
        {"far": False, "hazard": False}, {"far": True, "hazard": False}, {"far": True, "hazard": True},
    ]  # fmt: skip
    assert [info["cost"] for info in infos] == [0.0, 0.0, 10.0]


@pytest.mark.parametrize("given", [{"wet"}, ["wet"], ("wet",), frozenset({"wet"})])
def test_sets_of_labels(given):
    class Wet(Hazards):
        def reset(self, *, seed=None, options=None):
            return super().reset(seed=seed)[0], {"labels": set()}

        def step(self, action):
            return *super().step(action)[:-1], {"labels": given}

    env = labelled(Wet("nowhere"), formula="wet => boots", atoms=["wet", "boots"])
    assert env.reset(seed=0)[1]["labels"] == {"wet": False, "boots": False}
    info = env.step(1)[-1]
    assert (info["labels"], info["cost"]) == ({"wet": True, "boots": False}, 10.0)


def test_a_step_without_a_cost_is_said():
    env = from_cost(Hazards("nowhere"))
    env.reset(seed=0)
    with pytest.raises(AmbsError, match="Hazards.* gave no cost"):
        env.step(1)


@pytest.mark.parametrize("cost", [-1.0, float("nan"), "much", None, np.zeros(2)])
def test_a_cost_that_is_none(cost):
    class Odd(Hazards):
        def step(self, action):
            return *super().step(action)[:-1], {"cost": cost}

    env = from_cost(Odd("nowhere"))
    env.reset(seed=0)
    with pytest.raises(AmbsError, match="the environment's cost is .*, and has to be a number that is at least 0"):
        env.step(1)


def test_a_step_of_another_length_is_said():
    class Old(Hazards):
        def step(self, action):
            return np.zeros(1), 0.0, False, {}

    env = labelled(Old("nowhere"), {"a": lambda place, info: True}, formula="a")
    env.reset(seed=0)
    with pytest.raises(AmbsError, match="returned 4 values, and has to return 5"):
        env.step(1)

"""Environments as a user might have them, in a module of their own that registers them when it is imported."""

import gymnasium
import numpy as np
from gymnasium import spaces


class Pond(gymnasium.Env):
    """Swims in a row of places, of which those beyond `shore` are deep; one observes where, and whether it is evening.

    Args:
        gives: What of safety it tells: any of "labels", "names" (of the true labels), "cost", "sixth" (a cost after the
            reward).
        shore: The last place that is not deep.
    """

    observation_space = spaces.Dict({"place": spaces.Box(-50.0, 50.0, (2,), np.float32), "evening": spaces.Discrete(2)})
    action_space = spaces.Box(np.float32([-1.0, 0.0]), np.float32([1.0, 2.0]))

    def __init__(self, gives=(), *, shore=3.0):
        if shore < 0:
            raise ValueError("there is no shore.\nNone at all.")
        self.gives, self.shore = gives, shore

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = np.zeros(2, np.float32)
        self.time = 0
        # A cost is what a step leads to, as most have it.
        return self._observed(), {key: value for key, value in self._info().items() if key != "cost"}

    def step(self, action):
        assert self.action_space.contains(action), action
        self.place = np.clip(self.place + action + self.np_random.normal(0.0, 0.1, 2), -50, 50).astype(np.float32)
        self.time += 1
        result = (self._observed(), float(self.place[0]), False, False, self._info())
        if "sixth" in self.gives:
            return result[0], result[1], self._cost(), *result[2:]
        return result

    def _observed(self):
        return {"place": self.place, "evening": self.time % 2}

    def _cost(self):
        return 2.0 * self._deep()

    def _deep(self):
        return bool(self.place[1] > self.shore)

    def _info(self):
        info = {"time": self.time}
        if "labels" in self.gives:
            info["labels"] = {"deep": self._deep(), "late": self.time > 5}
        if "names" in self.gives:
            info["labels"] = {"deep"} if self._deep() else set()
        if "cost" in self.gives:
            info["cost"] = self._cost()
        return info


class Endless(Pond):
    """Actions without ends."""

    action_space = spaces.Box(-np.inf, np.inf, (2,), np.float32)


for kind in ("labels", "names", "cost", "sixth", "labels cost", "labels sixth", "names cost", "names sixth", "nothing"):
    gymnasium.register(
        f"Pond-{kind.replace(' ', '-')}-v0", entry_point=f"{__name__}:Pond", max_episode_steps=20,
        kwargs={"gives": kind.split()},
    )  # fmt: skip
gymnasium.register("Endless-v0", entry_point=Endless, kwargs={"gives": ["cost"]})

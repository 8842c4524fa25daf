"""Environments whose optimal return is known by looking at them, one difficulty each."""

import dataclasses

import gymnasium
import numpy as np
from gymnasium import spaces

from ambs.envs.catalogue import CATALOGUE


class Probe(gymnasium.Env):
    """Observations are a short vector of zeros and ones, actions two; `length` steps an episode."""

    observation_space = spaces.MultiBinary(3)
    action_space = spaces.Discrete(2)
    length = 1
    best = 1.0
    # Whether episodes are truncated rather than terminated.
    cut_off = False

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.time = 0
        self.cue = int(self.np_random.integers(2))
        self.begin()
        return self.see(), {"cost": 0.0, "labels": {"bad": False}}

    def step(self, action):
        reward = self.pay(action)
        self.time += 1
        over = self.time >= self.length
        ends = (False, over) if self.cut_off else (over, False)
        return self.see(), float(reward), *ends, {"cost": 0.0, "labels": {"bad": False}}

    def begin(self): ...

    def see(self):
        return np.array([1, self.cue, self.time == self.length - 1], np.int8)


class Immediate(Probe):
    """A choice that pays at once: action 1, whatever is seen."""

    def pay(self, action):
        return action == 1


class Dependent(Probe):
    """The action has to be the cue."""

    def pay(self, action):
        return action == self.cue


class Delayed(Probe):
    """The first action pays three steps later."""

    length = 4

    def begin(self):
        self.first = None

    def pay(self, action):
        if self.time == 0:
            self.first = action
        return self.first == 1 and self.time == self.length - 1


class Remembered(Probe):
    """The cue is shown at the start only, and asked for at the end."""

    length = 4

    def see(self):
        return np.array([self.time == 0, self.cue if self.time == 0 else 0, self.time == self.length - 1], np.int8)

    def pay(self, action):
        return self.time == self.length - 1 and action == self.cue


class Stochastic(Probe):
    """Action 1 pays 1 with probability .7; action 0 pays .4 for sure."""

    best = 0.7

    def pay(self, action):
        return float(self.np_random.random() < 0.7) if action else 0.4


class Aimed(Probe):
    """A continuous action, best at ½: it pays 1 - (a - ½)², which is 5/12 in the mean of uniform actions."""

    action_space = spaces.Box(-1, 1, (1,), np.float32)

    def pay(self, action):
        return 1 - (float(action[0]) - 0.5) ** 2


class Endless(Probe):
    """Action 1 pays 1, for ever; only a time limit cuts the episodes off."""

    length = 4
    best = 4.0
    cut_off = True

    def pay(self, action):
        return action == 1

    def see(self):
        return np.array([1, 0, 0], np.int8)


class Ended(Endless):
    """The same, but what cuts `Endless` off is an end here."""

    cut_off = False


def enter(patch, probe):
    """Puts a probe into the catalogue, by its name, for as long as the patch lasts."""
    name = probe.__name__.lower()
    spec = dataclasses.replace(
        CATALOGUE["conveyor"], name=name, id=f"{probe.__name__}-v0", formula='!"bad"', kwargs={},
        entry_point=f"{__name__}:{probe.__name__}",
    )  # fmt: skip
    patch.setitem(CATALOGUE, name, spec)
    patch.setitem(
        gymnasium.registry, spec.id, gymnasium.envs.registration.EnvSpec(spec.id, entry_point=spec.entry_point)
    )
    return name

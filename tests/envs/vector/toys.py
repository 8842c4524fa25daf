"""Small environments whose every row can be foretold, and some that misbehave."""

import os
import signal

import gymnasium
import numpy as np
from gymnasium import spaces


class Episodes(gymnasium.Env):
    """Its observation says which episode and which step of it this is, and what was drawn; it lasts `length` steps."""

    def __init__(self, length=3, terminates=True, crash_at=None, how=None):
        self.observation_space = spaces.Dict(
            {
                "where": spaces.Box(0, 1000, (2,), np.int64),
                "drawn": spaces.Box(0, 1, (), np.float64),
                "action": spaces.Box(-1, 1, (2,), np.float32),
            }
        )
        self.action_space = spaces.Box(-1, 1, (2,), np.float32)
        self.length, self.terminates, self.crash_at, self.how = length, terminates, crash_at, how
        self.episode, self.time = -1, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.episode, self.time = self.episode + 1, 0
        return self._observation(np.zeros(2, np.float32)), self._info()

    def step(self, action):
        self.time += 1
        if (self.episode, self.time) == self.crash_at:
            self.how()
        over = self.time == self.length
        return self._observation(action), float(self.time), over and self.terminates, over, self._info()

    def _observation(self, action):
        where = np.array([self.episode, self.time])
        return {"where": where, "drawn": np.array(self.np_random.random()), "action": action}

    def _info(self):
        odd = self.time % 2 == 1
        return {"labels": {"odd": odd, "begun": self.time > 0}, "cost": 10.0 if odd else 0.0}


def raise_error():
    raise RuntimeError("out of cheese")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


class Fated(Episodes):
    """Determined by its seed and its actions, misfortunes too: with a seed in `fates`, one happens at that step."""

    def __init__(self, length, fates):
        super().__init__(length)
        self.fates = fates

    def reset(self, *, seed=None, options=None):
        self.episode, self.time, self.seed = -1, 0, seed
        self._meet()
        return super().reset(seed=seed)

    def step(self, action):
        self._meet(1)
        return super().step(action)

    def _meet(self, ahead=0):
        when, how = self.fates.get(self.seed, (None, None))
        if when == self.time + ahead:
            how()


class Moody(Episodes):
    """Not determined by its seed: its second episode and all after it are shorter than its first."""

    def reset(self, *, seed=None, options=None):
        begun = super().reset(seed=seed)
        self.length = 9 if self.episode == 0 else 2
        return begun


class BadReset(Episodes):
    """Cannot even begin."""

    def reset(self, *, seed=None, options=None):
        raise RuntimeError("no such thing")


class Forgetful(Episodes):
    """Leaves a part of its observation out after the first step."""

    def _observation(self, action):
        whole = super()._observation(action)
        return whole if self.time == 0 else {"where": whole["where"], "action": whole["action"]}


class Unlabelled(Episodes):
    def _info(self):
        return {}


class Odd(Episodes):
    """An observation that does not fit into arrays."""

    def __init__(self):
        super().__init__()
        self.observation_space = spaces.Dict({"text": spaces.Text(8)})

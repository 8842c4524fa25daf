"""Small worlds to guard, and some that cannot be."""

import functools

import gymnasium
from gymnasium.wrappers import TimeLimit

from ambs.envs import Conveyor, labelled

# From the second cell a step to the right is onto a belt that ends in acid, four steps later.
LONG_BELT = ["S.>>>A", "......", "G....."]
# As large as the conveyor's own map, so that what is compiled for that is used again. There is acid to both sides: up
# and down are never let through, and a step along the way is with a tolerance of 0.1.
CAUSEWAY = ["###########", "#AAAAAAAAA#", "#S.......G#", "#AAAAAAAAA#", "###########"]
BELT = functools.partial(Conveyor, LONG_BELT, slip=0.0, observation="state")
RIGHT = 1


def short(limit):
    """Episodes of so many steps."""
    return TimeLimit(BELT(), limit)


def without_belts():
    """Another formula than the world's own, by a wrapper."""
    return labelled(BELT(), formula="!belt")


class Memorable(gymnasium.Wrapper):
    """A wrapper of which nobody knows what it remembers."""


class Savable(Memorable):
    """Another, that tells."""

    def get_state(self):
        return self.env.get_state()

    def set_state(self, state):
        self.env.set_state(state)


class Fragile(Conveyor):
    """Breaks down when the third step of its episode is tried out, but not when it is played."""

    def safe_step(self, action):
        if self._time == 2:
            raise RuntimeError("no such belt")
        return super().safe_step(action)

"""Gravitar: do not run out of fuel, which ends the game at once whatever lives are left, and do not lose a life.

Fuel is six decimal digits, two in a byte; with fewer than 100 units the ship has none.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels import death
from ambs.envs.atari.labels.labeller import Labeller


class Frame(NamedTuple):
    over: bool
    hundreds: int
    lives: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(over, ram[10] | ram[11], lives)


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    return now.over and not was.over and now.hundreds == 0, now.lives < was.lives


GRAVITAR = Labeller(
    atoms={"fuel": "no fuel is left, and the game is over", **death.ATOM},
    condition={"fuel": "game over with ram[10] = ram[11] = 0", **death.CONDITION},
    look=look,
    labels=labels,
)

"""Frostbite: do not freeze, and do not lose a life otherwise.

One byte says why play has stopped: frozen, drowned or caught, or a level completed (whose bonus also counts the degrees
down to zero, so the degrees alone do not tell).
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels import death
from ambs.envs.atari.labels.labeller import Labeller

FROZEN = 0x10


class Frame(NamedTuple):
    stopped: int
    lives: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[113], lives)


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    return now.stopped == FROZEN != was.stopped, now.lives < was.lives


FROSTBITE = Labeller(
    atoms={"freezing": "no degrees are left, and Bailey freezes", **death.ATOM},
    condition={"freezing": "ram[113] becomes 0x10", **death.CONDITION},
    look=look,
    labels=labels,
)

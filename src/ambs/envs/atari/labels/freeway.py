"""Freeway: do not be hit by a car.

One byte counts down how long the chicken cannot be steered: from 91 or 92 after a hit, from 142 or 143 after crossing.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

LONGEST_AFTER_HIT = 100


class Frame(NamedTuple):
    pause: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[106])


def labels(was: Frame, now: Frame) -> tuple[bool]:
    return (was.pause < now.pause <= LONGEST_AFTER_HIT,)


FREEWAY = Labeller(
    atoms={"hit": "a car hits the chicken"},
    condition={"hit": "ram[106] increases, to at most 100"},
    look=look,
    labels=labels,
)

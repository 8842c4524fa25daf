"""Assault: do not be hit, and do not let the cannon overheat.

Heat is a thermometer of bits in two bytes. A cannon that overheats explodes on the next frame, with the same explosion
that a hit causes; so an explosion right after an overheat is no hit.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

HOTTEST = 255 << 8 | 255
COOLEST = 192 << 8
EXPLODING = 255


class Frame(NamedTuple):
    heat: int
    cannon: int
    overheated: bool


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    heat = ram[28] << 8 | ram[29]
    overheated = was is not None and was.heat == HOTTEST and heat == COOLEST
    return Frame(heat, ram[31], overheated)


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    hit = now.cannon == EXPLODING != was.cannon and not was.overheated
    return hit, now.overheated


ASSAULT = Labeller(
    atoms={"hit": "the cannon is hit", "overheat": "the cannon gets too hot"},
    condition={
        "hit": "ram[31] becomes 255, and no overheat on the last frame",
        "overheat": "ram[28:30] goes from (255, 255) to (192, 0)",
    },
    look=look,
    labels=labels,
)

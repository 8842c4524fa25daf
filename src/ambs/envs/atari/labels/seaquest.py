"""Seaquest: do not surface without a diver, be hit or run out of oxygen.

Every violation is a death, and the game begins a death by starting a timer. What caused it is read off the same frame.

The game notices an arrival at the surface one frame after the submarine is there, and only if it has dived: oxygen is
below 64, what a full tank holds. An empty tank is that of a submarine put back after a death. On the frame it notices,
it either starts the death timer, or begins to fill the tank; and when the tank is full it takes one diver off, which
can be at once. So whether a diver was aboard is asked of the frame before too.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

SURFACE = 13
FULL = 64


class Frame(NamedTuple):
    depth: int
    depth_before: int
    divers: int
    oxygen: int
    dying: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    depth = ram[97]
    return Frame(depth, depth if was is None else was.depth, ram[62], ram[102], ram[105])


def labels(was: Frame, now: Frame) -> tuple[bool, bool, bool, bool]:
    onset = now.dying > 0 and was.dying == 0
    surface = now.depth == was.depth == SURFACE != was.depth_before and 0 < was.oxygen < FULL
    diver = now.divers > 0 or was.divers > 0
    out_of_oxygen = onset and now.oxygen == 0
    hit = onset and not out_of_oxygen and not (surface and not diver)
    return surface, diver, hit, out_of_oxygen


SEAQUEST = Labeller(
    atoms={
        "surface": "the submarine arrives at the surface after having dived",
        "diver": "a diver is aboard",
        "hit": "an enemy or its torpedo hits the submarine",
        "out-of-oxygen": "the submarine has no oxygen left",
    },
    condition={
        "surface": "ram[97] = 13 on this frame and the last, not on the one before; 0 < ram[102] < 64 on the last",
        "diver": "ram[62] > 0 on this frame or the last",
        "hit": "ram[105] leaves 0, and neither out-of-oxygen nor surface without diver",
        "out-of-oxygen": "ram[105] leaves 0 with ram[102] = 0",
    },
    look=look,
    labels=labels,
)

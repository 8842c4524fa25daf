"""Hero: do not be killed by one's own dynamite, and do not lose a life otherwise.

The game starts a death by writing 255 over what is a small number in life; the fuse counts down from 63, and the
dynamite blasts at 30.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels import death
from ambs.envs.atari.labels.labeller import Labeller

DYING = 255
BLAST = 30


class Frame(NamedTuple):
    state: int
    fuse: int
    lives: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[45], ram[95], lives)


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    return now.state == DYING and was.state < 128 and now.fuse == BLAST, now.lives < was.lives


HERO = Labeller(
    atoms={"dynamite": "our own dynamite kills us", **death.ATOM},
    condition={"dynamite": "ram[45] becomes 255 from below 128 while ram[95] = 30", **death.CONDITION},
    look=look,
    labels=labels,
)

"""FishingDerby: do not lose. The game is over when one side has caught 99 pounds of fish; digits are decimal."""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

ENOUGH = 0x99


class Frame(NamedTuple):
    over: bool
    ours: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(over, ram[61])


def labels(was: Frame, now: Frame) -> tuple[bool]:
    return (now.over and not was.over and now.ours != ENOUGH,)


FISHING_DERBY = Labeller(
    atoms={"lose": "the game is over and the opponent has the 99 pounds of fish"},
    condition={"lose": "game over with ram[61] ≠ 0x99"},
    look=look,
    labels=labels,
)

"""Boxing: be knocked out, lose on points, or fail to knock the opponent out. All are known when the fight is over.

Points are two decimal digits in a byte, which compare as numbers do; 0xC0 is what the game writes for a knock-out.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

KNOCK_OUT = 0xC0


class Frame(NamedTuple):
    over: bool
    ours: int
    theirs: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(over, ram[18], ram[19])


def labels(was: Frame, now: Frame) -> tuple[bool, bool, bool]:
    ends = now.over and not was.over
    knocked_out = now.theirs == KNOCK_OUT != was.theirs
    return knocked_out, ends and now.ours < now.theirs, ends and now.ours != KNOCK_OUT


BOXING = Labeller(
    atoms={
        "knock-out": "the opponent knocks us out",
        "lose": "the fight is over and the opponent has more points",
        "no-enemy-ko": "the fight is over and we have not knocked the opponent out",
    },
    condition={
        "knock-out": "ram[19] becomes 0xC0",
        "lose": "game over with ram[18] < ram[19]",
        "no-enemy-ko": "game over with ram[18] ≠ 0xC0",
    },
    look=look,
    labels=labels,
)

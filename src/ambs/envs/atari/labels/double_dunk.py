"""DoubleDunk: do not step out of bounds, and do not shoot before the ball has been cleared.

The game announces both in a message; one byte says which. The opponents commit them too, and those are not ours.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

OUT_OF_BOUNDS = 0x29
NOT_CLEARED = 0x51


class Frame(NamedTuple):
    message: int
    opponents_ball: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[13], ram[1] & 0x40)


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    ours = now.message != was.message and not now.opponents_ball
    return ours and now.message == OUT_OF_BOUNDS, ours and now.message == NOT_CLEARED


DOUBLE_DUNK = Labeller(
    atoms={
        "out-of-bounds": "our player steps out of bounds with the ball",
        "shoot-bf-clear": "our player shoots before the ball has been cleared",
    },
    condition={
        "out-of-bounds": "ram[13] becomes 0x29 while bit 6 of ram[1] is 0 (our ball)",
        "shoot-bf-clear": "ram[13] becomes 0x51 while bit 6 of ram[1] is 0 (our ball)",
    },
    look=look,
    labels=labels,
)

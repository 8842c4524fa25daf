"""KungFuMaster: do not lose energy, and do not lose a life.

A life is lost when there is no energy left (running out of time takes it all too); the counter of lives follows 39
frames later, so the frame of the event is that of the fall. When a floor is cleared the energy left is paid out as
points, which is no loss; a bit says that this is going on.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

FALLING = 1
PAYING_OUT = 0x80


class Frame(NamedTuple):
    energy: int
    state: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[75], ram[34])


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    loose_life = now.state == FALLING != was.state
    energy_loss = now.energy < was.energy and not now.state & PAYING_OUT
    return loose_life, energy_loss


KUNG_FU_MASTER = Labeller(
    atoms={"loose-life": "the fighter falls, and a life is lost", "energy-loss": "the fighter loses energy"},
    condition={
        "loose-life": "ram[34] becomes 1, 39 frames before the lives decrease",
        "energy-loss": "ram[75] decreases while bit 7 of ram[34] is 0",
    },
    look=look,
    labels=labels,
)

"""Games where the only event is the loss of a life, as the emulator counts lives.

The count falls when the game takes the life away, which is later than what cost it. It is compared with the frame
before and never with the start: it may rise by itself (Amidar shows 0 lives on its first frame, DemonAttack 1), and may
fall by more than one (Gravitar without fuel).
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

ATOM = {"death": "a life is lost"}
CONDITION = {"death": "the lives decrease"}


class Frame(NamedTuple):
    lives: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(lives)


def labels(was: Frame, now: Frame) -> tuple[bool]:
    return (now.lives < was.lives,)


DEATH = Labeller(atoms=ATOM, condition=CONDITION, look=look, labels=labels)

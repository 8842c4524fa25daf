"""IceHockey: do not let the enemy score. One byte has its goals."""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller


class Frame(NamedTuple):
    enemy_goals: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[11])


def labels(was: Frame, now: Frame) -> tuple[bool]:
    return (now.enemy_goals > was.enemy_goals,)


ICE_HOCKEY = Labeller(
    atoms={"enemy-score": "the enemy scores a goal"},
    condition={"enemy-score": "ram[11] increases"},
    look=look,
    labels=labels,
)

"""Gopher: do not lose a carrot. Three bits of one byte are the three carrots."""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller


class Frame(NamedTuple):
    carrots: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame((ram[52] & 7).bit_count())


def labels(was: Frame, now: Frame) -> tuple[bool]:
    return (now.carrots < was.carrots,)


GOPHER = Labeller(
    atoms={"lose-carrot": "the gopher steals a carrot"},
    condition={"lose-carrot": "fewer of the lowest three bits of ram[52] are 1"},
    look=look,
    labels=labels,
)

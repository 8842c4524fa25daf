"""Enduro: do not crash into another car.

One bit says that our car touches another. Other bits of the same byte are the road's edge, which is no crash.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller


class Frame(NamedTuple):
    touching: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    return Frame(ram[35] & 0x80)


def labels(was: Frame, now: Frame) -> tuple[bool]:
    return (now.touching > was.touching,)


ENDURO = Labeller(
    atoms={"crash-car": "our car runs into another"},
    condition={"crash-car": "bit 7 of ram[35] becomes 1"},
    look=look,
    labels=labels,
)

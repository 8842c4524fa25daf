"""Bowling: a ball that hits nothing, and a first ball that leaves pins standing.

A throw is judged when the ball returns, by the pins that stood when it was thrown.
"""

from __future__ import annotations

from typing import NamedTuple

from ambs.envs.atari.labels.labeller import Labeller

ROLLING, RETURNING = 5, 6
PIN_DOWN = 255


class Frame(NamedTuple):
    phase: int
    standing: int
    thrown_at: int
    second_ball: int


def look(ram: memoryview, lives: int, over: bool, was: Frame | None) -> Frame:
    phase = ram[13]
    standing = sum(pin != PIN_DOWN for pin in ram[57:67])
    if was is None or phase == ROLLING != was.phase:
        return Frame(phase, standing, standing, ram[18])
    return Frame(phase, standing, was.thrown_at, ram[18])


def labels(was: Frame, now: Frame) -> tuple[bool, bool]:
    over = now.phase == RETURNING and was.phase == ROLLING
    return over and now.standing == now.thrown_at, over and now.standing > 0 and not now.second_ball


BOWLING = Labeller(
    atoms={"no-hit": "a ball returns and has hit no pin", "no-strike": "a first ball returns and pins are standing"},
    condition={
        "no-hit": "ram[13] goes from 5 to 6 with as many of ram[57:67] ≠ 255 as when it went to 5",
        "no-strike": "ram[13] goes from 5 to 6 with any of ram[57:67] ≠ 255 and ram[18] = 0",
    },
    look=look,
    labels=labels,
)

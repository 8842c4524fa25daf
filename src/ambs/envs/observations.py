"""What the robot's world looks like to an agent: an index, a grid of channels, or pixels.

Each observer is made once for a map and then asked for states; it has a Gymnasium `space`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces
from jaxtyping import UInt8

from ambs.envs.maps import MOVES, Layout
from ambs.envs.render import Painter
from ambs.errors import AmbsError

# The channels of the grid: the robot first, then the characters of the map.
CHANNELS = "R#AG" + "".join(MOVES)
# One colour a character, as far apart as eight colours can be.
COLOURS = {
    "#": (40, 44, 60),
    ".": (226, 222, 212),
    "S": (170, 200, 226),
    "G": (52, 84, 220),
    "A": (96, 214, 30),
    "^": (250, 214, 70),
    ">": (214, 160, 50),
    "v": (160, 110, 40),
    "<": (110, 70, 50),
}
ROBOT = (236, 30, 110)


@runtime_checkable
class Observer(Protocol):
    """From a state to what an agent sees of it."""

    space: spaces.Space

    def __call__(self, state: int) -> int | np.ndarray: ...


def observer(layout: Layout, kind: str) -> Observer:
    """The observer of that name."""
    if kind not in OBSERVERS:
        raise AmbsError(f'observation is "{kind}", and has to be one of {", ".join(OBSERVERS)}.')
    return OBSERVERS[kind](layout)


class Index:
    """The state itself."""

    def __init__(self, layout: Layout) -> None:
        self.space: spaces.Space = spaces.Discrete(layout.states)

    def __call__(self, state: int) -> int:
        return state


class OneHot:
    """A grid with a channel of zeros and ones for the robot, walls, acid, the goal and each direction of belts."""

    def __init__(self, layout: Layout) -> None:
        self._cells = layout.cells
        tiles = np.array([list(row) for row in layout.rows])
        self._map = (tiles[:, :, None] == np.array(list(CHANNELS))).astype(np.uint8)
        self.space: spaces.Space = spaces.Box(0, 1, self._map.shape, np.uint8)

    def __call__(self, state: int) -> UInt8[np.ndarray, "rows columns channels"]:
        grid = self._map.copy()
        grid[(*self._cells[state], 0)] = 1
        return grid


class Image:
    """A colour a cell, enlarged to fill 16×16 pixels; the robot's colour takes a little of the cell it is on."""

    def __init__(self, layout: Layout) -> None:
        self._cells = layout.cells
        self._map = np.array([[COLOURS[tile] for tile in row] for row in layout.rows], dtype=np.uint8)
        self._size, self._scale, self._corner = _frame(layout, 16)
        self.space: spaces.Space = spaces.Box(0, 255, (self._size, self._size, 3), np.uint8)

    def __call__(self, state: int) -> UInt8[np.ndarray, "size size 3"]:
        cells = self._map.copy()
        row, column = self._cells[state]
        cells[row, column] = 0.75 * np.array(ROBOT) + 0.25 * cells[row, column]
        return _centred(cells.repeat(self._scale, 0).repeat(self._scale, 1), self._size, self._corner)


class Picture:
    """The rendering, in 64×64 pixels."""

    def __init__(self, layout: Layout) -> None:
        self._size, scale, self._corner = _frame(layout, 64)
        self._painter = Painter(layout, scale)
        self.space: spaces.Space = spaces.Box(0, 255, (self._size, self._size, 3), np.uint8)

    def __call__(self, state: int) -> UInt8[np.ndarray, "size size 3"]:
        return _centred(self._painter.picture(state), self._size, self._corner)


OBSERVERS: dict[str, Callable[[Layout], Observer]] = {"onehot": OneHot, "image": Image, "rgb": Picture, "state": Index}


def _frame(layout: Layout, size: int) -> tuple[int, int, tuple[int, int]]:
    """Side of a square of `size` pixels, or a multiple if the map has more cells; pixels a cell; the map's corner."""
    longest = max(layout.height, layout.width)
    side = size * math.ceil(longest / size)
    scale = side // longest
    return side, scale, ((side - scale * layout.height) // 2, (side - scale * layout.width) // 2)


def _centred(
    picture: UInt8[np.ndarray, "height width 3"], size: int, corner: tuple[int, int]
) -> UInt8[np.ndarray, "size size 3"]:
    """The picture in the middle of a square of wall."""
    square = np.full((size, size, 3), COLOURS["#"], dtype=np.uint8)
    top, left = corner
    square[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return square

"""Pictures of the conveyor world: tiles put together, with the robot on top. NumPy only, and the map drawn once."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, UInt8

from ambs.envs import tiles
from ambs.envs.maps import MOVES, Layout
from ambs.envs.tiles import PHASES as PHASES


class Painter:
    """Draws one map with `size` pixels a cell; belts and acid move through `PHASES` pictures."""

    def __init__(self, layout: Layout, size: int) -> None:
        self._layout = layout
        self._size = size
        self._robot = tiles.robot(size)
        self._backgrounds: dict[int, UInt8[np.ndarray, "height width 3"]] = {}

    def picture(self, state: int, phase: int = 0) -> UInt8[np.ndarray, "height width 3"]:
        """The map with the robot in `state`; in acid it is up to its chest in it."""
        if phase not in self._backgrounds:
            self._backgrounds[phase] = self._background(phase)
        picture = self._backgrounds[phase].copy()
        row, column = self._layout.cells[state]
        top, left = row * self._size, column * self._size
        ground = picture[top : top + self._size, left : left + self._size]
        cover = self._robot.cover.copy()
        if self._layout.tiles[state] == "A":
            cover[self._robot.y > 0.55] *= 0.25
        ground[:] = np.rint(ground * (1 - cover[:, :, None]) + self._robot.colour * cover[:, :, None])
        return picture

    def _background(self, phase: int) -> UInt8[np.ndarray, "height width 3"]:
        layout, size = self._layout, self._size
        art = {
            "#": tiles.wall(size),
            ".": tiles.floor(size),
            "S": tiles.start(size),
            "G": tiles.goal(size),
            "A": tiles.acid(size, phase),
            **{way: tiles.belt(size, way, phase) for way in MOVES},
        }
        rows = [np.concatenate([art[tile] for tile in row], axis=1) for row in layout.rows]
        picture = np.concatenate(rows, axis=0)
        for row, column in layout.cells:
            if (row - 1, column) not in layout.index:
                top, left = row * size, column * size
                picture[top : top + size, left : left + size] *= _shadow(size)
        return np.rint(np.clip(picture, 0, 255)).astype(np.uint8)


def _shadow(size: int) -> Float[np.ndarray, "size 1 1"]:
    """What the wall above a cell takes of its light."""
    y = (np.arange(size) + 0.5) / size
    return (1 - 0.3 * np.clip(1 - y / 0.3, 0, 1))[:, None, None]

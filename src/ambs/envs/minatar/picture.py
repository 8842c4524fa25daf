"""Pictures of the 10×10 grids: a shape and a colour for each kind of thing, drawn with NumPy."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Num, UInt8

CELL = 32
_DARK, _DARKER = (24, 28, 44), (20, 23, 37)

# Channel → colour and shape, in the order of drawing: what is drawn later covers what is drawn earlier. White is you,
# red is what you must not touch, yellow is what you want, and small squares are where things come from. You are drawn
# smaller than a cell, so that what you run into can be seen around you.
_ART: dict[str, tuple[tuple[int, int, int], str]] = {
    "trail": ((92, 98, 122), "small"),
    "speed1": ((214, 96, 84), "small"),
    "speed2": ((190, 96, 104), "small"),
    "speed3": ((160, 94, 122), "small"),
    "speed4": ((128, 92, 136), "small"),
    "speed5": ((98, 88, 146), "small"),
    "oxygen_guage": ((70, 190, 230), "block"),
    "diver_guage": ((246, 200, 70), "block"),
    "brick": ((200, 120, 70), "block"),
    "alien": ((120, 200, 90), "block"),
    "alien_left": ((20, 60, 20), "left"),
    "alien_right": ((20, 60, 20), "right"),
    "gold": ((246, 200, 70), "disc"),
    "diver": ((246, 200, 70), "disc"),
    "car": ((226, 62, 62), "block"),
    "enemy": ((226, 62, 62), "block"),
    "enemy_fish": ((236, 110, 60), "block"),
    "enemy_sub": ((206, 50, 90), "block"),
    "sub_back": ((150, 156, 170), "inner"),
    "ball": ((246, 200, 70), "disc"),
    "friendly_bullet": ((180, 236, 255), "dot"),
    "player": ((246, 246, 250), "inner"),
    "chicken": ((246, 246, 250), "inner"),
    "paddle": ((246, 246, 250), "inner"),
    "cannon": ((246, 246, 250), "inner"),
    "sub_front": ((246, 246, 250), "inner"),
    "enemy_bullet": ((255, 70, 70), "dot"),
}


def draw(grid: Num[np.ndarray, "10 10 channels"], channels: Mapping[str, int]) -> UInt8[np.ndarray, "320 320 3"]:
    """The picture of an observation, whose channels are numbered by `channels`."""
    picture = _background().copy()
    for name, (colour, shape) in _ART.items():
        if name not in channels:
            continue
        cover = _shape(shape)[:, :, None]
        for row, column in np.argwhere(grid[:, :, channels[name]]):
            cell = picture[row * CELL : (row + 1) * CELL, column * CELL : (column + 1) * CELL]
            cell[:] = cell * (1 - cover) + np.array(colour) * cover
    return np.rint(picture).astype(np.uint8)


@functools.cache
def _background() -> Float[np.ndarray, "320 320 3"]:
    """A dark board, its cells just told apart."""
    odd = np.indices((10, 10)).sum(axis=0) % 2
    cells = np.where(odd[:, :, None], _DARK, _DARKER).astype(float)
    return cells.repeat(CELL, axis=0).repeat(CELL, axis=1)


@functools.cache
def _shape(name: str) -> Float[np.ndarray, "32 32"]:
    """How much of each pixel of a cell is covered, its edges softened."""
    y, x = (np.indices((CELL, CELL)) + 0.5) / CELL - 0.5
    # Distances to the edge of the shape, in cells, negative inside.
    corner, inner = (np.hypot(np.maximum(abs(x) - half, 0), np.maximum(abs(y) - half, 0)) for half in (0.28, 0.2))
    distance = {
        "block": corner - 0.17,
        "inner": inner - 0.1,
        "small": np.maximum(abs(x), abs(y)) - 0.16,
        "disc": np.hypot(x, y) - 0.42,
        "dot": np.hypot(x * 0.7, y) - 0.14,
        "left": np.maximum(abs(y) - 0.06, abs(x + 0.16) - 0.16),
        "right": np.maximum(abs(y) - 0.06, abs(x - 0.16) - 0.16),
    }[name]
    return np.clip(0.5 - distance * CELL, 0, 1)

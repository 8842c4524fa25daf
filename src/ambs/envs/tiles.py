"""The tiles of the conveyor world, drawn with NumPy at any size.

A shape is its signed distance: negative inside, and one pixel of it at the border is where colours blend, so edges are
smooth at 40 pixels a tile and still readable at 4. Coordinates run from 0 to 1, x to the right and y down.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

Plane = Float[np.ndarray, "size size"]
Tile = Float[np.ndarray, "size size 3"]
Colour = tuple[int, int, int]

# A belt moves by a fraction of its pattern a step; after so many steps it looks the same again.
PHASES = 4
# With fewer pixels, what matters most is drawn as a plain patch of its colour.
SMALL = 10

FLOOR, SEAM = (231, 227, 217), (208, 203, 190)
WALL, WALL_LIGHT, WALL_DARK = (66, 74, 96), (92, 102, 128), (44, 49, 66)
RUBBER, RAIL, CHEVRON = (62, 64, 74), (146, 150, 162), (245, 184, 56)
STEEL, STEEL_DARK, ACID, ACID_LIGHT = (134, 140, 152), (62, 68, 76), (104, 206, 32), (190, 246, 96)
FLAG, FLAG_LIGHT, POLE = (46, 92, 224), (118, 158, 250), (84, 74, 66)
BODY, BODY_DARK, HEAD, VISOR, EYE, TREAD = (
    (234, 84, 52), (184, 54, 34), (244, 244, 248), (36, 42, 58), (94, 232, 244), (44, 46, 54),
)  # fmt: skip


class Canvas:
    """One tile in the making: colours, and how much each pixel is covered."""

    def __init__(self, size: int, ground: Colour | None = None) -> None:
        self.size = size
        self.y, self.x = (np.mgrid[:size, :size] + 0.5) / size
        self.colour = np.zeros((size, size, 3)) if ground is None else np.full((size, size, 3), ground, dtype=float)
        self.cover = np.full((size, size), 0.0 if ground is None else 1.0)

    def paint(self, colour: Colour | Tile, distance: Plane, opacity: float = 1.0) -> None:
        """Covers the shape with a colour, softly at its border."""
        alpha = opacity * np.clip(0.5 - distance * self.size, 0, 1)
        cover = alpha + self.cover * (1 - alpha)
        weight = (alpha / np.maximum(cover, 1e-9))[:, :, None]
        self.colour = self.colour * (1 - weight) + np.asarray(colour, dtype=float) * weight
        self.cover = cover

    def disc(self, x: float, y: float, radius: float, squash: float = 1.0) -> Plane:
        """A circle, or with `squash` an ellipse that much flatter."""
        return np.hypot(self.x - x, (self.y - y) / squash) - radius

    def box(self, x: float, y: float, half_width: float, half_height: float, corner: float = 0.0) -> Plane:
        """A rectangle around (x, y) with round corners."""
        across = np.abs(self.x - x) - half_width + corner
        down = np.abs(self.y - y) - half_height + corner
        outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0))
        return outside + np.minimum(np.maximum(across, down), 0) - corner


def floor(size: int) -> Tile:
    canvas = Canvas(size, SEAM)
    shade = np.array(FLOOR) * (1.015 - 0.03 * canvas.y[:, :, None])
    canvas.paint(shade, canvas.box(0.5, 0.5, 0.485, 0.485, 0.04))
    return canvas.colour


def wall(size: int) -> Tile:
    canvas = Canvas(size, WALL_DARK)
    canvas.paint(WALL_LIGHT, canvas.box(0.5, 0.48, 0.49, 0.47, 0.06))
    canvas.paint(WALL, canvas.box(0.5, 0.52, 0.47, 0.45, 0.06))
    return canvas.colour


def start(size: int) -> Tile:
    """A pad with a ring where the robot is put."""
    canvas = Canvas(size)
    canvas.colour, canvas.cover = floor(size), np.ones((size, size))
    canvas.paint((120, 168, 214), np.abs(canvas.disc(0.5, 0.5, 0.34)) - 0.045)
    canvas.paint((120, 168, 214), canvas.disc(0.5, 0.5, 0.12), 0.6)
    return canvas.colour


def goal(size: int) -> Tile:
    """A flag on a pole."""
    canvas = Canvas(size)
    canvas.colour, canvas.cover = floor(size), np.ones((size, size))
    if size < SMALL:
        canvas.paint(FLAG, canvas.box(0.5, 0.5, 0.44, 0.44, 0.1))
        return canvas.colour
    canvas.paint((60, 56, 52), canvas.disc(0.46, 0.86, 0.24, 0.3), 0.25)
    wave = 0.03 * np.sin(2 * np.pi * canvas.x / 0.5)
    cloth = np.maximum(np.abs(canvas.x - 0.58) - 0.26, np.abs(canvas.y + wave - 0.3) - 0.18)
    canvas.paint(FLAG, cloth)
    canvas.paint(FLAG_LIGHT, np.maximum(cloth + 0.02, np.abs(canvas.y + wave - 0.3) - 0.05))
    canvas.paint(POLE, canvas.box(0.31, 0.48, 0.035, 0.4, 0.03))
    canvas.paint((250, 208, 88), canvas.disc(0.31, 0.09, 0.05))
    return canvas.colour


def acid(size: int, phase: int) -> Tile:
    """A steel vat seen from above; bubbles rise and burst."""
    canvas = Canvas(size)
    canvas.colour, canvas.cover = floor(size), np.ones((size, size))
    canvas.paint((40, 44, 40), canvas.box(0.51, 0.54, 0.46, 0.45, 0.16), 0.35)
    canvas.paint(STEEL, canvas.box(0.5, 0.5, 0.46, 0.46, 0.16))
    canvas.paint(STEEL_DARK, canvas.box(0.5, 0.5, 0.38, 0.38, 0.13))
    depth = np.clip(canvas.y[:, :, None] * 1.1, 0, 1)
    liquid = np.array(ACID_LIGHT) * (1 - depth) * 0.35 + np.array(ACID) * (0.65 + 0.35 * depth)
    canvas.paint(liquid, canvas.box(0.5, 0.53, 0.36, 0.34, 0.12))
    for index, (x, y) in enumerate([(0.34, 0.42), (0.62, 0.36), (0.5, 0.62), (0.7, 0.68), (0.3, 0.7)]):
        age = (index * 0.37 + phase / PHASES) % 1
        radius = 0.035 + 0.05 * age
        canvas.paint(ACID_LIGHT, canvas.disc(x, y - 0.05 * age, radius), 0.85)
        canvas.paint(ACID, canvas.disc(x, y - 0.05 * age, 0.62 * radius), 0.8)
        canvas.paint((248, 255, 226), canvas.disc(x - 0.3 * radius, y - 0.05 * age - 0.35 * radius, 0.25 * radius))
    return canvas.colour


def belt(size: int, way: str, phase: int) -> Tile:
    """Rubber between rails, darker where it comes from; the chevrons move with time."""
    canvas = Canvas(size, RUBBER)
    canvas.colour *= (0.7 + 0.5 * canvas.x)[:, :, None]
    # Twice the pattern a tile; the chevron's tip is in the middle, ahead of its arms.
    along = 2 * (canvas.x + 0.7 * np.abs(canvas.y - 0.5)) - phase / PHASES
    stripe = (np.abs(along % 1 - 0.5) - 0.17) / 2
    canvas.paint(CHEVRON, np.maximum(stripe, np.abs(canvas.y - 0.5) - 0.27))
    for y in (0.07, 0.93):
        canvas.paint(RAIL, canvas.box(0.5, y, 0.6, 0.07))
        canvas.paint((96, 100, 112), canvas.box(0.5, y + 0.05, 0.6, 0.02))
    return np.rot90(canvas.colour, {">": 0, "^": 1, "<": 2, "v": 3}[way])


def robot(size: int) -> Canvas:
    """The robot, seen from the front; where it does not cover the tile the ground shows."""
    canvas = Canvas(size)
    if size < SMALL:
        canvas.paint(BODY, canvas.disc(0.5, 0.5, 0.5))
        canvas.paint(HEAD, canvas.box(0.5, 0.4, 0.2, 0.14))
        return canvas
    canvas.paint((30, 30, 36), canvas.disc(0.5, 0.9, 0.34, 0.25), 0.35)
    canvas.paint(TREAD, canvas.box(0.5, 0.82, 0.3, 0.1, 0.09))
    for x in (0.3, 0.5, 0.7):
        canvas.paint((112, 116, 128), canvas.disc(x, 0.83, 0.045))
    canvas.paint(BODY_DARK, canvas.box(0.5, 0.6, 0.36, 0.07, 0.06))
    canvas.paint(BODY, canvas.box(0.5, 0.62, 0.26, 0.17, 0.08))
    canvas.paint((250, 214, 120), canvas.box(0.5, 0.63, 0.12, 0.06, 0.03))
    canvas.paint((120, 124, 136), canvas.box(0.5, 0.13, 0.018, 0.07))
    canvas.paint(BODY, canvas.disc(0.5, 0.07, 0.055))
    canvas.paint((170, 174, 186), canvas.box(0.5, 0.33, 0.27, 0.17, 0.1))
    canvas.paint(HEAD, canvas.box(0.5, 0.315, 0.26, 0.15, 0.09))
    canvas.paint(VISOR, canvas.box(0.5, 0.33, 0.19, 0.09, 0.08))
    for x in (0.41, 0.59):
        canvas.paint(EYE, canvas.disc(x, 0.33, 0.05))
    return canvas

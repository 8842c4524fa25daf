"""Colours, fonts and small shapes that the panel and the contact sheet share."""

from __future__ import annotations

import functools
from pathlib import Path

import matplotlib
import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw, ImageFont

BACKGROUND, RAISED, LINE = "#14171f", "#1e232e", "#343b4a"
TEXT, FAINT = "#e8ebf2", "#8b94a7"
LIT, UNLIT = "#ffc145", "#2b3140"
GOOD, BAD = "#3fb984", "#ef5350"

Font = ImageFont.FreeTypeFont


@functools.cache
def font(size: int, face: str = "DejaVuSans") -> Font:
    """The fonts that come with matplotlib: the same letters on every machine, Greek among them."""
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / f"{face}.ttf"), size)


def bold(size: int) -> Font:
    return font(size, "DejaVuSans-Bold")


def mono(size: int) -> Font:
    return font(size, "DejaVuSansMono")


def wrapped(text: str, face: Font, width: float) -> list[str]:
    """The text in lines no wider than `width`, broken at spaces; a word that is wider stays whole."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and face.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def blend(one: str, other: str, share: float) -> tuple[int, int, int]:
    """A colour between two: `share` of the first."""
    pairs = zip(bytes.fromhex(one[1:]), bytes.fromhex(other[1:]), strict=True)
    red, green, blue = (round(share * a + (1 - share) * b) for a, b in pairs)
    return red, green, blue


def lamp(draw: ImageDraw.ImageDraw, centre: tuple[float, float], radius: float, glow: float) -> None:
    """A lamp: lit at glow 1, dark at 0, and in between as one that has just gone out."""
    x, y = centre
    if glow == 1:
        halo = radius * 1.5
        draw.ellipse((x - halo, y - halo, x + halo, y + halo), fill=blend(LIT, BACKGROUND, 0.3))
    outline = LIT if glow == 1 else LINE
    draw.ellipse((x - radius, y - radius, x + radius, y + radius), blend(LIT, UNLIT, glow), outline, 1)


def pill(draw: ImageDraw.ImageDraw, corner: tuple[float, float], text: str, colour: str, size: int) -> float:
    """A word on a rounded field; its right edge is returned."""
    x, y = corner
    right = x + bold(size).getlength(text) + 1.4 * size
    draw.rounded_rectangle((x, y, right, y + 1.8 * size), 0.5 * size, fill=colour)
    draw.text((x + 0.7 * size, y + 0.9 * size), text, font=bold(size), fill=BACKGROUND, anchor="lm")
    return right


def enlarged(frame: UInt8[np.ndarray, "height width 3"], width: int, height: int) -> Image.Image:
    """The frame as large as fits: by a whole factor, so that its pixels stay square; shrunk smoothly if it must be."""
    picture = Image.fromarray(frame)
    factor = min(width / picture.width, height / picture.height)
    if factor >= 1:
        whole = int(factor)
        return picture.resize((picture.width * whole, picture.height * whole), Image.Resampling.NEAREST)
    size = (max(1, round(picture.width * factor)), max(1, round(picture.height * factor)))
    return picture.resize(size, Image.Resampling.LANCZOS)

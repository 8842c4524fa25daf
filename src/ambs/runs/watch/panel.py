"""The picture of a moment: the frame, and beside it a panel with the labels, the formula's verdict and the cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from ambs.runs.watch import drawing
from ambs.runs.watch.drawing import BACKGROUND, BAD, FAINT, GOOD, LINE, RAISED, TEXT
from ambs.runs.watch.moments import Moment

FRAME_WIDTH, FRAME_HEIGHT = 480, 440
PANEL_WIDTH = 340
_MARGIN, _LAMP_LINE, _FORMULA_LINE = 20, 28, 20

# An atom is often true for one step, too short to be seen in a video: its lamp goes out slowly.
_AFTERGLOW_STEPS = 12


class Panel:
    """Draws moments one after the other; every picture has the same size, even in both directions as videos want."""

    def __init__(self, title: str, subtitle: str, atoms: Sequence[str], formula: str) -> None:
        self._title, self._subtitle, self._atoms = title, subtitle, list(atoms)
        self._formula = drawing.wrapped(formula, drawing.mono(13), PANEL_WIDTH - 2 * _MARGIN)
        self._rises: Counter[str] = Counter()
        self._last_true: dict[str, int] = {}
        needed = 310 + _LAMP_LINE * len(self._atoms) + _FORMULA_LINE * len(self._formula)
        self._height = max(needed, FRAME_HEIGHT + 2 * _MARGIN) // 2 * 2
        self._width = FRAME_WIDTH + 2 * _MARGIN + PANEL_WIDTH

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self._width, self._height

    def draw(self, moment: Moment) -> UInt8[np.ndarray, "height width 3"]:
        self._rises.update(moment.rising)
        self._last_true |= {atom: moment.time for atom, true in moment.labels.items() if true}
        picture = Image.new("RGB", (self._width, self._height), BACKGROUND)
        pen = ImageDraw.Draw(picture)
        self._draw_frame(picture, pen, moment)
        left = FRAME_WIDTH + 2 * _MARGIN
        pen.rectangle((left, 0, self._width, self._height), fill=RAISED)
        y = self._draw_head(pen, left + _MARGIN, moment)
        y = self._draw_labels(pen, left + _MARGIN, y, moment)
        self._draw_verdict(pen, left + _MARGIN, y, moment)
        return np.asarray(picture)

    def _draw_frame(self, picture: Image.Image, pen: ImageDraw.ImageDraw, moment: Moment) -> None:
        frame = drawing.enlarged(moment.frame, FRAME_WIDTH, FRAME_HEIGHT)
        x = _MARGIN + (FRAME_WIDTH - frame.width) // 2
        y = (self._height - frame.height) // 2
        edge = BAD if moment.cost > 0 else LINE
        pen.rectangle((x - 4, y - 4, x + frame.width + 3, y + frame.height + 3), fill=edge)
        picture.paste(frame, (x, y))

    def _draw_head(self, pen: ImageDraw.ImageDraw, x: float, moment: Moment) -> float:
        pen.text((x, 18), self._title, font=drawing.bold(20), fill=TEXT)
        pen.text((x, 46), self._subtitle, font=drawing.font(13), fill=FAINT)
        cells = (
            ("episode", f"{moment.episode}"),
            ("step", f"{moment.step:,}"),
            ("action", moment.action),
            ("reward", f"{moment.reward:g}"),
            ("return", f"{moment.total_reward:g}"),
        )
        places = ((0, 78), (75, 78), (150, 78), (0, 124), (75, 124))
        for (name, value), (right, down) in zip(cells, places, strict=True):
            pen.text((x + right, down), name, font=drawing.font(12), fill=FAINT)
            pen.text((x + right, down + 16), value, font=drawing.font(16), fill=TEXT)
        return 176

    def _draw_labels(self, pen: ImageDraw.ImageDraw, x: float, y: float, moment: Moment) -> float:
        pen.line((x, y, self._width - _MARGIN, y), fill=LINE)
        y += _LAMP_LINE
        for atom in self._atoms:
            since = moment.time - self._last_true.get(atom, -_AFTERGLOW_STEPS)
            true = moment.labels[atom]
            glow = 1.0 if true else 0.6 * max(0.0, 1 - since / _AFTERGLOW_STEPS)
            drawing.lamp(pen, (x + 9, y), 8, glow)
            face = drawing.bold(15) if true else drawing.font(15)
            pen.text((x + 30, y), atom, font=face, fill=TEXT if true else FAINT, anchor="lm")
            if self._rises[atom]:
                count = f"×{self._rises[atom]}"
                pen.text((self._width - _MARGIN, y), count, font=drawing.font(13), fill=FAINT, anchor="rm")
            y += _LAMP_LINE
        return y

    def _draw_verdict(self, pen: ImageDraw.ImageDraw, x: float, y: float, moment: Moment) -> None:
        pen.line((x, y, self._width - _MARGIN, y), fill=LINE)
        y += 14
        pen.text((x, y), "Ψ", font=drawing.font(12), fill=FAINT)
        y += 20
        for line in self._formula:
            pen.text((x, y), line, font=drawing.mono(13), fill=TEXT)
            y += _FORMULA_LINE
        y += 8
        broken = moment.cost > 0
        right = drawing.pill(pen, (x, y), "violated" if broken else "holds", BAD if broken else GOOD, 14)
        pen.text((right + 14, y + 12), f"cost {moment.cost:g}", font=drawing.font(15), fill=TEXT, anchor="lm")
        text = f"violations {moment.violations}"
        pen.text((self._width - _MARGIN, y + 12), text, font=drawing.font(13), fill=FAINT, anchor="rm")

"""The contact sheet: a row for each time that an atom becomes true, with the frames before, at and after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PIL import Image, ImageDraw

from ambs.files import replacing
from ambs.runs.watch import drawing
from ambs.runs.watch.drawing import BACKGROUND, BAD, FAINT, LINE, LIT, RAISED, TEXT
from ambs.runs.watch.moments import Moment
from ambs.runs.watch.occasions import AFTER, BEFORE, VIOLATION, Occasion, Occasions

_TILE_WIDTH, _TILE_HEIGHT, _CAPTION = 200, 210, 46
_SIDE, _GAP, _HEAD = 210, 14, 84
_EMPTY_ROW = 96
_COLUMNS = BEFORE + 1 + AFTER
_WIDTH = _SIDE + _COLUMNS * (_TILE_WIDTH + _GAP) + 3 * _GAP


def draw_sheet(path: Path, title: str, subtitle: str, occasions: Occasions, meanings: Mapping[str, str]) -> None:
    """Every atom has its rows; one that never became true has a line that says so."""
    rows = [(what, occasions.of(what)) for what in (*occasions.atoms, VIOLATION)]
    # Violations that are in an atom's rows already need none of their own.
    rows = [(what, found) for what, found in rows if found or not occasions.counts[what]]
    tile = _tile_height(occasions)
    row_height = tile + _CAPTION + 2 * _GAP
    height = _HEAD + sum(row_height * len(found) if found else _EMPTY_ROW for _, found in rows) + _GAP
    sheet = Image.new("RGB", (_WIDTH, height), BACKGROUND)
    pen = ImageDraw.Draw(sheet)
    pen.text((2 * _GAP, 20), title, font=drawing.bold(22), fill=TEXT)
    pen.text((2 * _GAP, 52), subtitle, font=drawing.font(13), fill=FAINT)
    y = _HEAD
    for what, found in rows:
        meaning = "the formula does not hold" if what == VIOLATION else meanings[what]
        for occasion in found:
            _draw_side(pen, y, what, meaning, f"time {occasion.number} of {occasions.counts[what]}")
            _draw_row(sheet, pen, y, occasion, tile)
            y += row_height
        if not found:
            _draw_side(pen, y, what, meaning, "")
            pen.text((_SIDE + 2 * _GAP, y + 16), "never, here", font=drawing.font(14), fill=FAINT)
            y += _EMPTY_ROW
    with replacing(path) as partial:
        sheet.save(partial, format="png")


def _tile_height(occasions: Occasions) -> int:
    """As high as the frames are when they are as wide as a tile; but text has to fit beside them."""
    if not occasions.kept:
        return _TILE_HEIGHT
    height, width, _ = occasions.kept[0].moments[0].frame.shape
    return max(90, min(_TILE_HEIGHT, round(height * _TILE_WIDTH / width)))


def _draw_side(pen: ImageDraw.ImageDraw, y: float, what: str, meaning: str, count: str) -> None:
    pen.line((2 * _GAP, y, _WIDTH - 2 * _GAP, y), fill=LINE)
    pen.text((2 * _GAP, y + 14), what, font=drawing.bold(16), fill=BAD if what == VIOLATION else LIT)
    lines = drawing.wrapped(meaning, drawing.font(12), _SIDE - _GAP)
    for number, line in enumerate([*lines, "", count] if count else lines):
        pen.text((2 * _GAP, y + 40 + 16 * number), line, font=drawing.font(12), fill=FAINT)


def _draw_row(sheet: Image.Image, pen: ImageDraw.ImageDraw, y: float, occasion: Occasion, height: int) -> None:
    for position, moment in enumerate(occasion.moments):
        # What it is about is always in the same column, also where an episode has just begun.
        column = BEFORE + position - occasion.at
        x = _SIDE + 2 * _GAP + column * (_TILE_WIDTH + _GAP)
        box = (x, round(y + _GAP), x + _TILE_WIDTH - 1, round(y + _GAP) + height - 1)
        _draw_tile(sheet, pen, box, moment, chosen=position == occasion.at)


def _draw_tile(
    sheet: Image.Image, pen: ImageDraw.ImageDraw, box: tuple[int, int, int, int], moment: Moment, *, chosen: bool
) -> None:
    left, top, right, bottom = box
    pen.rectangle(box, fill=RAISED)
    frame = drawing.enlarged(moment.frame, right - left + 1, bottom - top + 1)
    sheet.paste(frame, ((left + right + 1 - frame.width) // 2, (top + bottom + 1 - frame.height) // 2))
    if chosen:
        pen.rectangle((left - 3, top - 3, right + 3, bottom + 3), outline=LIT, width=3)
    if moment.cost > 0:
        pen.rectangle(box, outline=BAD, width=4)
    pen.text(
        (left, bottom + 8), f"{moment.episode}:{moment.step:,}  {moment.action}", font=drawing.font(12), fill=FAINT
    )
    true = [atom for atom, holds in moment.labels.items() if holds]
    pen.text((left, bottom + 25), ", ".join(true) or "–", font=drawing.font(12), fill=LIT if true else FAINT)

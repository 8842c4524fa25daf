"""Learning curves as SVG: text in the page, so that it needs no library, no network and no script to be seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np

from ambs.report.curves import Chart, Series

WIDTH, HEIGHT = 360, 230
LEFT, RIGHT, TOP, BOTTOM = 48, 350, 10, 192
# The page's style sheet has so many colours and dashes; more agents than these share them.
STYLES = 8


def svg(chart: Chart, agents: Sequence[str], identity: str) -> str:
    """The agents are all of the page: an agent looks the same in every chart."""
    low, high = extent(chart)
    x, y = _Scale(0, chart.steps, LEFT, RIGHT), _Scale(low, high, BOTTOM, TOP)
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="{identity}-t {identity}-d">',
        f'<title id="{identity}-t">{escape(chart.game)}: {escape(chart.title)} by environment steps</title>',
        f'<desc id="{identity}-d">{escape(_described(chart))}</desc>',
    ]
    for tick in ticks(low, high):
        at = _number(y(tick))
        parts.append(f'<path class="grid" d="M{LEFT} {at}H{RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 5}" y="{_number(y(tick) + 4)}" text-anchor="end">{_short(tick)}</text>')
    for tick in ticks(0, chart.steps, 4):
        at = _number(x(tick))
        parts.append(f'<path class="grid" d="M{at} {BOTTOM}v4"/>')
        parts.append(f'<text x="{at}" y="{BOTTOM + 17}" text-anchor="middle">{_short(tick)}</text>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>')
    parts.append(f'<text x="{(LEFT + RIGHT) // 2}" y="{HEIGHT - 4}" text-anchor="middle">environment steps</text>')
    parts += [_drawn(series, agents.index(series.agent), x, y, chart.opacity) for series in chart.series]
    return "".join([*parts, f'<path class="here" d="M0 {TOP}V{BOTTOM}"/></svg>'])


def extent(chart: Chart) -> tuple[float, float]:
    """From where to where its axis goes; it has 0, and is never empty."""
    if chart.share:
        return 0.0, 1.0
    every = np.concatenate(
        [np.concatenate([one.line, *([] if one.band is None else one.band)]) for one in chart.series]
    )
    low, high = min(0.0, float(every.min())), max(0.0, float(every.max()))
    return (low, high) if high > low else (0.0, 1.0)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """No more than so many round numbers, 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    apart = next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
    return [number * apart for number in range(math.ceil(low / apart - 1e-9), math.floor(high / apart + 1e-9) + 1)]


def _drawn(series: Series, number: int, x: _Scale, y: _Scale, opacity: float) -> str:
    steps = [x(step) for step in series.step]
    parts = [f'<g class="series style{number % STYLES}" data-series="{number}">']
    if series.band is not None:
        above = list(zip(steps, map(y, series.band[1]), strict=True))
        below = list(zip(steps, map(y, series.band[0]), strict=True))
        parts.append(f'<path class="band" opacity="{opacity:g}" d="{_path(above + below[::-1])}Z"/>')
    parts.append(f'<path class="line" d="{_path(list(zip(steps, map(y, series.line), strict=True)))}"/></g>')
    return "".join(parts)


class _Scale:
    """Linear, from numbers to the page."""

    def __init__(self, low: float, high: float, begin: float, end: float) -> None:
        self._low, self._begin, self._slope = low, begin, (end - begin) / (high - low)

    def __call__(self, value: float) -> float:
        return float(self._begin + (value - self._low) * self._slope)


def _path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in points)


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{letter}"
    return f"{value:.3g}" if value else "0"


def _described(chart: Chart) -> str:
    ends = [f"{one.agent} ends at {one.line[-1]:.4g}" for one in chart.series]
    return "; ".join(ends) + "."

"""The best value of one quantity, found by halving the set of values it can take until two neighbours remain.

A bound is a yes-or-no question that only ever changes its answer once as a quantity grows. Whole numbers are
halved as they are. Floats are halved through their bit patterns, which for numbers of at least zero are
ordered like the numbers, so about sixty steps reach the very last float: there is no tolerance to choose.
Whatever is returned satisfies the question as it was computed. That is what makes the bounds consistent with
each other: what one of them returned can be put back into it.
"""

import math
import struct
from collections.abc import Callable

# Larger counts and horizons than this are not looked for.
HUGE = 2**100

Question = Callable[[float], bool]


def smallest_integer(holds: Callable[[int], bool], start: int = 1) -> int | None:
    """The smallest integer of at least `start` for which `holds`, if there is one up to `HUGE`."""
    if holds(start):
        return start
    good = 2 * start
    while not holds(good):
        good *= 2
        if good > HUGE:
            return None
    return _close_in(good, good // 2, holds)


def largest_integer(holds: Callable[[int], bool]) -> int | float | None:
    """The largest integer of at least one for which `holds`; `inf` if all do, None if not even one does."""
    if not holds(1):
        return None
    bad = 2
    while holds(bad):
        bad *= 2
        if bad > HUGE:
            return math.inf
    return _close_in(bad // 2, bad, holds)


def smallest_float(holds: Question, low: float, high: float) -> float | None:
    """The smallest float in `[low, high]`, with `low >= 0`, for which `holds`."""
    if holds(low):
        return low
    return _close_in_floats(high, low, holds) if holds(high) else None


def largest_float(holds: Question, low: float, high: float) -> float | None:
    """The largest float in `[low, high]`, with `low >= 0`, for which `holds`."""
    if holds(high):
        return high
    return _close_in_floats(low, high, holds) if holds(low) else None


def _close_in(good: int, bad: int, holds: Callable[[int], bool]) -> int:
    while abs(good - bad) > 1:
        middle = (good + bad) // 2
        if holds(middle):
            good = middle
        else:
            bad = middle
    return good


def _close_in_floats(good: float, bad: float, holds: Question) -> float:
    return _float(_close_in(_bits(good), _bits(bad), lambda bits: holds(_float(bits))))


def _bits(value: float) -> int:
    return int(struct.unpack("<q", struct.pack("<d", value))[0])


def _float(bits: int) -> float:
    return float(struct.unpack("<d", struct.pack("<q", bits))[0])

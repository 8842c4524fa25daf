"""The quantities of the bounds: their names, the paper's letters for them, and what values they may have."""

import math
import sys

from ambs.errors import AmbsError, positive_integer, probability

SYMBOLS = {
    "traces": "m",
    "visits": "m",
    "epsilon": "ε",
    "delta": "δ",
    "tv": "α",
    "horizon": "n",
    "error": "e",
}
# The paper calls both the number of traces and the number of visits m.
_ALIASES = {
    "m": ("traces", "visits"),
    "n": ("horizon",),
    "alpha": ("tv",),
    "α": ("tv",),
    "ε": ("epsilon",),
    "δ": ("delta",),
}

WHOLE = frozenset({"traces", "visits", "horizon", "states", "actions", "successors"})
ALMOST_ONE = math.nextafter(1.0, 0.0)
_TINIEST = sys.float_info.min


def names(name: str) -> tuple[str, ...]:
    """What `name` may stand for: itself, or the quantities that the paper writes with this letter."""
    return _ALIASES.get(name, (name,))


def lowest(name: str) -> float:
    """The smallest float that is looked at: a model may be perfect, the other errors are above zero."""
    return 0.0 if name == "tv" else _TINIEST


def checked(name: str, value: float) -> float:
    """`value`, an int where only whole numbers make sense, or an `AmbsError` that says what it has to be."""
    if name in WHOLE:
        return positive_integer(name, value)
    if name == "sides":
        return sides_of(value)
    if name == "negligible_actions":
        return bool(value)
    if name == "tv" and not 0 <= value < 1:
        raise AmbsError(f"tv is {value:g}, and has to lie in [0, 1): a distance of 1 says nothing.")
    return probability(name, value, closed=name in ("tv", "mu"))


def sides_of(value: float) -> int:
    """2 if the estimate may neither be too high nor too low, 1 if only one of them matters."""
    if value not in (1, 2):
        raise AmbsError(f"sides is {value:g}, and has to be 1 (never too high) or 2 (neither too high nor too low).")
    return int(value)


def one_of(name: str, value: str, *choices: str) -> str:
    """`value` if it is among the `choices`."""
    if value not in choices:
        raise AmbsError(f"{name} is {value!r}, and has to be one of {', '.join(choices)}.")
    return value


def rounded_up(count: float, what: str) -> int:
    """The smallest whole number of at least one that is not below `count`."""
    if not math.isfinite(count):
        raise AmbsError(f"The number of {what} asked for is too large to be written down; ask for less precision.")
    return max(1, math.ceil(count))


def listed(words: tuple[str, ...] | list[str]) -> str:
    """`a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))

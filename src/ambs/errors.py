"""What goes wrong because of what a user gave us: one sentence that says what, where, and what to do.

The command line prints the sentence and exits with 2; anything that is not an `AmbsError` is a bug of ours
and keeps its traceback. They are `ValueError`s too, so that library users may catch what they expect.
"""

import math
import numbers
from typing import Any


class AmbsError(ValueError):
    """The base of every error that a user's input can cause."""


class FormulaError(AmbsError):
    """A formula that cannot be read, or that asks for what its place does not offer."""


class ModelError(AmbsError):
    """A finite model, or a file of one, that is not what it has to be."""


def probability(name: str, value: Any, *, closed: bool = False) -> float:
    """`value` as a float if it is a probability in (0, 1), or in [0, 1] when `closed`."""
    _require_number(name, value)
    inside = 0 <= value <= 1 if closed else 0 < value < 1
    if not inside:
        interval = "[0, 1]" if closed else "(0, 1), both ends excluded"
        raise AmbsError(f"{name} is {value:g}, and has to lie in {interval}.")
    return float(value)


def positive_integer(name: str, value: Any) -> int:
    """`value` as an int if it is a whole number of at least one."""
    _require_number(name, value)
    if not math.isfinite(value) or value != int(value) or value < 1:
        raise AmbsError(f"{name} is {value:g}, and has to be a whole number of at least 1.")
    return int(value)


def _require_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise AmbsError(f"{name} is {value!r}, and has to be a number.")

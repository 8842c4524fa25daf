"""Numbers of NumPy and JAX as JSON has them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ambs.errors import AmbsError


def plain(value: Any) -> Any:
    """What `json` asks of what it does not know: arrays and their numbers become Python's."""
    if hasattr(value, "dtype"):
        return np.asarray(value).tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}, which JSON cannot hold")


def scalar(name: str, value: Any) -> float | int | str | None:
    """`value` for a row of metrics. NaN and the infinities, which JSON does not have, become None."""
    if hasattr(value, "dtype") and np.asarray(value).size == 1:
        value = np.asarray(value).item()
    if not isinstance(value, bool | int | float | str | None):
        raise AmbsError(f'the metric "{name}" is {value!r}, and has to be one number.')
    return None if isinstance(value, float) and not math.isfinite(value) else value

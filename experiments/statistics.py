"""Means over seeds, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats


def half_width(values: Sequence[float]) -> float:
    """Half of the 95 % interval of the mean over seeds (Student)."""
    if len(values) < 2:
        return float("nan")
    return float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values))


def interval(values: Sequence[float], digits: int = 1) -> str:
    return f"{float(np.mean(values)):.{digits}f} ± {half_width(values):.{digits}f}"

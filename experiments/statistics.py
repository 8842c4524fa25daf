"""Means over seeds, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats


def half_width(values: Any) -> Any:
    """Half of the 95 % interval of the mean over seeds, the first axis (Student)."""
    values = np.asarray(values, float)
    if len(values) < 2:
        return np.full(values.shape[1:], np.nan)[()]
    return stats.t.ppf(0.975, len(values) - 1) * stats.sem(values, axis=0)


def interval(values: Sequence[float], digits: int = 1) -> str:
    return f"{float(np.mean(values)):.{digits}f} ± {float(half_width(values)):.{digits}f}"


def ratio(above: Sequence[float], below: Sequence[float], seed: int = 0) -> str:
    """Ratio of two means with its 95 % bootstrap interval, runs drawn anew on both sides; of single runs none."""
    if not np.any(below):
        return "none left"
    if min(len(above), len(below)) < 2:
        return f"{np.mean(above) / np.mean(below):.1f}×"
    rng = np.random.default_rng(seed)
    drawn = [np.mean(rng.choice(above, len(above))) / np.mean(rng.choice(below, len(below))) for _ in range(5000)]
    low, high = np.percentile(drawn, [2.5, 97.5])
    return f"{np.mean(above) / np.mean(below):.1f}× ({low:.1f} to {high:.1f})"

"""One row of numbers for a criterion under a way of playing: how good its estimates are, how right its decisions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ambs.shield import StatTest
from experiments.calibration import scores
from experiments.calibration.scores import Sample


def row(sample: Sample, futures: int, threshold: float, test: StatTest) -> dict[str, Any]:
    """Everything about the sample; what needs the probability itself, only if there is more than one future of each."""
    found = {
        "states": len(sample.safe),
        "episodes": len(np.unique(sample.episode)),
        "safe": float(sample.safe.mean()),
        "brier": _with_interval(sample, scores.brier),
        "base_brier": scores.base_brier(sample),
        "skill": _with_interval(sample, scores.skill),
        "bias": _with_interval(sample, scores.bias),
        "accepted": float(sample.accepted.mean()),
        "unsafe_accepted": _with_interval(sample, scores.unsafe_accepted),
        "unsafe_refused": _with_interval(sample, scores.unsafe_refused),
        "reliability": scores.reliability_intervals(sample),
    }
    if futures > 1:
        found |= _against_truth(sample, futures, threshold, test)
    return found


def _against_truth(sample: Sample, futures: int, threshold: float, test: StatTest) -> dict[str, Any]:
    false_accepts, false_rejects = (
        partial(each, threshold=threshold) for each in (scores.false_accepts, scores.false_rejects)
    )
    # Near the threshold the rollouts cannot tell on which side a state is.
    error = np.sqrt(np.maximum(sample.safe * (1 - sample.safe), 1 / futures) / futures)
    clear = sample.where(np.abs(sample.safe - threshold) > 2 * error)
    # What the same test would do if the model were the truth: the rest is the model's error.
    ideal = np.asarray(test.accept_probability(sample.safe))
    unsafe = sample.safe < threshold
    return {
        "noise": scores.noise(sample, futures),
        "squared_error": scores.brier(sample) - scores.noise(sample, futures),
        "standard_error": float(np.sqrt(np.mean(sample.safe * (1 - sample.safe) / futures))),
        "unsafe_states": int(unsafe.sum()),
        "clear_states": len(clear.safe),
        "false_accepts": _with_interval(sample, false_accepts),
        "false_rejects": _with_interval(sample, false_rejects),
        "false_accepts_clear": _with_interval(clear, false_accepts),
        "false_rejects_clear": _with_interval(clear, false_rejects),
        "false_accepts_of_the_test": _mean(ideal[unsafe]),
        "false_rejects_of_the_test": _mean(1 - ideal[~unsafe]),
    }


def _with_interval(sample: Sample, score: Callable[[Sample], float]) -> dict[str, Any]:
    value = score(sample) if len(sample.safe) else float("nan")
    if np.isnan(value):
        return {"value": None, "interval": [None, None]}
    return {"value": value, "interval": scores.interval(sample, score)}


def _mean(values: np.ndarray) -> float | None:
    return float(values.mean()) if len(values) else None

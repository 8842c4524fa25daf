"""What comes out of a vector of environments at each step: one array per key, one row per environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int64
from numpy.typing import NDArray


@dataclass(frozen=True)
class Batch:
    """One row per environment, as a replay stores them: every row belongs to exactly one episode.

    An episode is the rows from one with `is_first` to the next with `is_last`. The row after `is_last` is the first of
    the next episode: its action was ignored, its reward is 0 because nobody earned one, and its labels and its cost are
    those of the state that the reset led to, since the agent is in that state.
    """

    obs: NDArray[Any] | dict[str, NDArray[Any]]
    """`[N, ...]`, or one such array a key where the observation is a dictionary."""
    reward: Float32[np.ndarray, " N"]
    """What the action earned; 0 in a first row."""
    cost: Float32[np.ndarray, " N"]
    """0 where the formula holds in the state entered, C where it does not."""
    labels: dict[str, Bool[np.ndarray, " N"]]
    """Atom → whether it is true in the state entered."""
    is_first: Bool[np.ndarray, " N"]
    """The row is a reset."""
    is_last: Bool[np.ndarray, " N"]
    """The episode ends here: it has terminated, or was cut off."""
    is_terminal: Bool[np.ndarray, " N"]
    """It has terminated: nothing would follow. False where it was only cut off, by a time limit or by a crash."""


@dataclass(frozen=True)
class Verdicts:
    """What the environments' guards say of proposed actions, one row per environment."""

    actions: NDArray[Any]
    """To play: the proposed ones, or those of the guards where they take over."""
    asked: Bool[np.ndarray, " N"]
    """Who was asked: not where an episode is over, since no action is played there. The rest is about these rows."""
    overridden: Bool[np.ndarray, " N"]
    """Where a guard takes over."""
    estimate: Float32[np.ndarray, " N"]
    """How likely safety can be kept, by the proposed action or, as `Verdict` says, by any; NaN where nobody knows."""
    steps: Int64[np.ndarray, " N"]
    """Steps of the environment that were tried for that."""
    seconds: Float64[np.ndarray, " N"]
    """How long it took."""

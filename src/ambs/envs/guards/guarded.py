"""An environment with a guard: it can be asked what it would let be played, before it is stepped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import gymnasium
import numpy as np


class Verdict(NamedTuple):
    """What a guard says of one proposed action."""

    action: Any
    """The action to play."""
    overridden: bool
    estimate: float
    """How likely safety can be kept: of classical, by the proposed action; of prescience, 1 if some action has a safe
    path and 0 if none has. NaN where that was not found out."""
    steps: int
    """Steps of the environment that were tried for this."""


@runtime_checkable
class Guard(Protocol):
    """Proposed action in, played action out; the environment is left as it was."""

    def __call__(self, action: Any, info: Mapping[str, Any], preferences: np.ndarray | None = None) -> Verdict:
        """`info` is what the environment told when it was last stepped or reset; `preferences` has a number for each
        action, the higher the better to whoever proposed."""


class Guarded(gymnasium.Wrapper[Any, Any, Any, Any]):
    """The environment as it is, and its guard beside it. A step plays what it is given: whoever acts asks first, and
    so knows what is played."""

    def __init__(self, env: gymnasium.Env[Any, Any], guard: Guard) -> None:
        super().__init__(env)
        self._guard = guard
        self._info: Mapping[str, Any] = {}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._info = info
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._info = info
        return observation, reward, terminated, truncated, info

    def guard(self, action: Any, preferences: np.ndarray | None = None) -> Verdict:
        """What to play instead of `action`, or `action` itself."""
        return self._guard(action, self._info, preferences)

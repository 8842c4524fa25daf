"""A Gymnasium wrapper that shields whoever acts in the environment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from ambs.errors import AmbsError
from ambs.shield.callbacks import original_errors
from ambs.types import Shield, State


class ShieldWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Asks the shield about every action before it is played.

    `info["shield"]` tells what happened: `proposed`, `action`, `overridden`, `estimate`, `low`, `high`, `traces`.

    Args:
        env: The environment.
        shield: Any shield, `(state, proposed, key=) -> Decision`.
        state_of: The model's state from the latest observation and info; the observation itself if not given.
        seed: Of the shield's own sampling, from 0 to 2^32 - 1.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        shield: Shield,
        state_of: Callable[[Any, dict[str, Any]], State] | None = None,
        *,
        seed: Any = 0,
    ) -> None:
        super().__init__(env)
        self.shield = shield
        self._state_of = state_of or (lambda observation, info: observation)
        self._key = _key(seed)
        self._state: State = None

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        if seed is not None:
            self._key = _key(seed)
        observation, info = self.env.reset(seed=seed, options=options)
        self._state = self._state_of(observation, info)
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        if self._state is None:
            raise AmbsError("reset the environment before its first step.")
        self._key, key = jax.random.split(self._key)
        with original_errors():
            decision = self.shield(self._state, action, key=key)
        played = _as_action(decision.action, self.env.action_space)
        observation, reward, terminated, truncated, info = self.env.step(played)
        self._state = self._state_of(observation, info)
        told = {
            "proposed": action,
            "action": played,
            "overridden": bool(decision.overridden),
            "estimate": float(decision.estimate),
            "low": float(decision.low),
            "high": float(decision.high),
            "traces": int(decision.traces),
        }
        return observation, reward, terminated, truncated, {**info, "shield": told}


def _key(seed: Any) -> PRNGKeyArray:
    """JAX keeps the last 32 bits of a seed, so that larger ones would silently repeat smaller ones."""
    if not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise AmbsError(f"the seed is {seed}, and has to be a whole number from 0 to 2^32 - 1.")
    return jax.random.key(int(seed))


def _as_action(action: Any, space: gymnasium.Space[Any]) -> Any:
    """An action as the environment wants it: a Python number for a discrete space, else an array."""
    array = np.asarray(action)
    return int(array) if isinstance(space, gymnasium.spaces.Discrete) else array.astype(space.dtype)

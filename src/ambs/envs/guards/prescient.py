"""Bounded prescience beside an environment: the environment itself is searched, and put back where it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

from ambs.envs.adapters import GivenCost
from ambs.envs.foreign import AsGiven
from ambs.envs.guards.config import GuardConfig
from ambs.envs.guards.guarded import Verdict
from ambs.envs.labelling import Labelled
from ambs.errors import AmbsError

# Wrappers that say nothing of labels and cost, and those that do. All that any of them remembers is numbers.
_SILENT = (TimeLimit, OrderEnforcing, PassiveEnvChecker)
_KNOWN = (*_SILENT, Labelled, GivenCost, AsGiven)


class Searchable:
    """An environment in its wrappers, as a prescience shield wants a simulator.

    It is judged by the cost that the wrappers make of a step, with the formula and the time limit of a run. Where they
    leave the cost alone, the environment's own `safe_step` is asked, which need not draw what nobody looks at.

    Args:
        env: Whatever is inside has to have `get_state` and `set_state`, that everything which decides what happens
            next goes through, draws of chance too.
        name: What the user calls it.
    """

    def __init__(self, env: gymnasium.Env[Any, Any], name: str) -> None:
        self._env = env
        self._layers, self._core = _taken_apart(env, name)
        self._limits: list[Any] = [layer for layer in self._layers if isinstance(layer, TimeLimit)]
        silent = all(isinstance(layer, _SILENT) for layer in self._layers)
        self._quick = silent and hasattr(self._core, "safe_step")

    def get_state(self) -> Any:
        return self._core.get_state(), [dict(vars(layer)) for layer in self._layers]

    def set_state(self, state: Any) -> None:
        core, layers = state
        self._core.set_state(core)
        for layer, before in zip(self._layers, layers, strict=True):
            vars(layer).update(before)

    def require_dice(self, name: str) -> None:
        self._env.reset(seed=0)
        saved = self._core.get_state()
        if not (dataclasses.is_dataclass(saved) and hasattr(saved, "generator")):
            raise AmbsError(
                f"the saved state of {name} does not tell its dice as generator, so the shield has to take the same "
                "ones; leave --dice out."
            )

    def take_other_dice(self, state: Any) -> None:
        """Goes to a state that `get_state` gave, but for what chance will draw; it is always the same instead."""
        core, layers = state
        self.set_state((dataclasses.replace(core, generator=_elsewhere(core.generator)), layers))

    def safe_step(self, action: Any) -> tuple[bool, bool]:
        if not self._quick:
            _, _, terminated, truncated, info = self._env.step(action)
            return info["cost"] == 0, bool(terminated or truncated)
        safe, over = self._core.safe_step(action)
        for limit in self._limits:
            limit._elapsed_steps += 1
            over = over or limit._elapsed_steps >= limit._max_episode_steps
        return safe, over


class PrescientGuard:
    """A prescience shield in the environment that it guards."""

    def __init__(self, env: gymnasium.Env[Any, Any], config: GuardConfig, name: str) -> None:
        # Brings JAX with it, which environments without a guard do without.
        from ambs.shield.prescience import PrescienceShield

        space = env.action_space
        assert isinstance(space, spaces.Discrete)
        kind = space.dtype.type
        actions = [kind(space.start + number) for number in range(int(space.n))]
        self._simulator = Searchable(env, name)
        self._own_dice = config.dice == "own"
        if self._own_dice:
            self._simulator.require_dice(name)
        self._shield = PrescienceShield(self._simulator, actions, config.depth, most=config.most)

    def __call__(self, action: Any, info: Mapping[str, Any], preferences: np.ndarray | None = None) -> Verdict:
        before = self._simulator.get_state() if self._own_dice else None
        if before is not None:
            self._simulator.take_other_dice(before)
        try:
            decision = self._shield(None, action, preferences=preferences)
        finally:
            if before is not None:
                self._simulator.set_state(before)
        return Verdict(decision.action, bool(decision.overridden), float(decision.estimate), self._shield.steps)


def _elsewhere(generator: Mapping[str, Any]) -> Mapping[str, Any]:
    """The state of a NumPy generator, so far on that the draws between are never reached."""
    dice = getattr(np.random, generator["bit_generator"])()
    dice.state = generator
    return dice.jumped().state


def _taken_apart(env: gymnasium.Env[Any, Any], name: str) -> tuple[list[gymnasium.Wrapper[Any, Any, Any, Any]], Any]:
    """The wrappers, from the outside in, and what inside of them can be saved and restored."""
    layers: list[gymnasium.Wrapper[Any, Any, Any, Any]] = []
    core: Any = env
    while not (hasattr(core, "get_state") and hasattr(core, "set_state")):
        if not isinstance(core, gymnasium.Wrapper):
            raise AmbsError(
                f"{name} cannot be searched, for it has no get_state and set_state to put it back with; the shield "
                "prescience is for Atari, MinAtar and conveyor worlds, and for your own that have them."
            )
        layers.append(core)
        core = core.env
    for layer in layers:
        if not isinstance(layer, _KNOWN):
            raise AmbsError(
                f"{name} cannot be searched, for what its wrapper {type(layer).__name__} remembers cannot be put back; "
                "give that wrapper a get_state and a set_state, which go for all inside of it."
            )
    return layers, core

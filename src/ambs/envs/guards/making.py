"""From the name of a guard to environments that have it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium import spaces

from ambs.envs.guards.config import GuardConfig
from ambs.envs.guards.exact import ExactGuard
from ambs.envs.guards.guarded import Guard, Guarded
from ambs.envs.guards.prescient import PrescientGuard
from ambs.errors import AmbsError

Maker = Callable[[], gymnasium.Env[Any, Any]]


def guarded_maker(make: Maker, config: GuardConfig, *, formula: str | None = None, name: str) -> Maker:
    """A function that makes the same environments, guarded; an error if they cannot be.

    What a guard computes once is computed here, with an environment that is thrown away.

    Args:
        make: Makes one environment.
        config: Of the guard.
        formula: What a classical shield keeps; prescience is judged by the environment's own cost.
        name: What the user calls the environment.
    """
    env = make()
    try:
        if not isinstance(env.action_space, spaces.Discrete):
            raise AmbsError(
                f"the actions of {name} are {env.action_space}, and the shield {config.name} chooses among Discrete "
                "ones; take the agent ambs, whose shield imagines."
            )
        guard: Callable[[gymnasium.Env[Any, Any]], Guard]
        if config.name == "classical":
            guard = functools.partial(_same, ExactGuard.of(env, config, formula, name))
        else:
            PrescientGuard(env, config, name)
            guard = functools.partial(PrescientGuard, config=config, name=name)
    finally:
        env.close()
    return functools.partial(_guarded, make, guard)


def _guarded(make: Maker, guard: Callable[[gymnasium.Env[Any, Any]], Guard]) -> Guarded:
    env = make()
    return Guarded(env, guard(env))


def _same(guard: Guard, env: gymnasium.Env[Any, Any]) -> Guard:
    """One for all: it remembers nothing of any environment."""
    return guard

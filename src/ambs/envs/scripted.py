"""Scripted policies that provoke the labels, so that a person can see them; and what the actions are called.

A script need not play well. It has to bring about, within a minute or two of play, what the atoms of its environment
speak of: dive and come up without a diver, fire until the gun is too hot, drive into the car ahead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import gymnasium

from ambs.envs.kernel import ACTIONS
from ambs.envs.spec import EnvSpec
from ambs.errors import AmbsError

Policy = Callable[[Any, dict[str, Any]], Any]
"""The action, from an observation and its `info`."""

_SIDES = ("up", "right", "left", "down", "up-right", "up-left", "down-right", "down-left")
_ACTION_NAMES: dict[str, tuple[str, ...]] = {
    "ambs.envs.conveyor:Conveyor": ACTIONS,
    "ambs.envs.atari.game:AtariGame": ("none", "fire", *_SIDES, *(f"{side}-fire" for side in _SIDES)),
    "ambs.envs.minatar.game:MinAtarGame": ("none", "left", "up", "right", "down", "fire"),
}

# Name → what is done for how many steps, over and over.
_CYCLES: dict[str, tuple[tuple[str, int], ...]] = {
    "assault": (("up", 150), ("none", 150)),
    "double-dunk": (("up-fire", 3), ("down-right", 7), ("fire", 2), ("up", 9)),
    "enduro": (("fire", 200), ("right-fire", 4), ("left-fire", 4)),
    "kung-fu-master": (("none", 200), ("left", 40)),
    # Down and up without a diver; about the deep, where divers and enemies are; then just below the surface, where
    # neither is, until the oxygen is used up.
    "seaquest": (
        *(("none", 40), ("down", 12), ("up", 20), ("none", 70)),
        *(("down-right-fire", 20), ("left-fire", 40), ("up-right-fire", 8), ("right-fire", 40)),
        *(("up-left-fire", 8), ("left-fire", 40), ("none", 70), ("up", 40), ("none", 40)),
        *(("down", 2), ("none", 560)),
    ),
    "minatar-asterix": (("none", 30), ("up", 3), ("down", 3)),
    "minatar-breakout": (("none", 30), ("right", 3)),
    "minatar-freeway": (("up", 40),),
    "minatar-seaquest": (("down", 4), ("up", 6), ("down", 3), ("right", 12), ("left", 12)),
    "minatar-space-invaders": (("left", 10), ("right", 10)),
}


def action_names(spec: EnvSpec) -> tuple[str, ...]:
    """What the actions of an environment of the catalogue are called, in their order."""
    return _ACTION_NAMES[spec.entry_point]


def scripted(spec: EnvSpec, env: gymnasium.Env[Any, Any]) -> Policy:
    """The script of this environment, or an error that says there is none."""
    if spec.entry_point == "ambs.envs.conveyor:Conveyor":
        return _greedy(env)
    if spec.name in _CYCLES:
        return _cycle(_CYCLES[spec.name], action_names(spec))
    known = ", ".join(sorted(_CYCLES))
    raise AmbsError(f"there is no script for {spec.name}; use --policy random, or one of: conveyor, {known}.")


def _greedy(env: gymnasium.Env[Any, Any]) -> Policy:
    """The best policy for reward, blind to cost: it takes the quick way past the acid."""
    # Planning comes with JAX, which environments do without.
    from ambs.tabular import reward_values

    world: Any = env.unwrapped
    mdp, rewards = world.mdp(), world.rewards()
    kernel = mdp.kernel.toarray().reshape(mdp.states, len(ACTIONS), mdp.states)
    best = reward_values(kernel, rewards, 0.99).argmax(axis=1)
    return lambda _, info: int(best[info["state"]])


def _cycle(phases: Iterable[tuple[str, int]], names: tuple[str, ...]) -> Policy:
    actions = itertools.cycle([names.index(name) for name, steps in phases for _ in range(steps)])
    return lambda _, __: next(actions)

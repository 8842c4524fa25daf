"""Environments that are not of the catalogue: any that Gymnasium can make, with labels and a cost in their info.

What an environment gives decides how it gets them:

    labels and a cost    it is taken as it is; with a formula, the cost is what that says
    labels               a formula has to say what they cost
    a cost               the atom `violation` is where it is above 0 (`from_cost`)
    neither              the atom `violation` is never true, and nothing is ever violated
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import gymnasium
from gymnasium.envs.registration import EnvSpec

from ambs.envs.adapters import from_cost
from ambs.envs.labelling import five_tuple, labelled
from ambs.envs.making import made
from ambs.errors import AmbsError, positive_integer

GUIDE = "docs/your-own-environment.md"

Wrap = Callable[[gymnasium.Env[Any, Any]], gymnasium.Env[Any, Any]]


@dataclass(frozen=True)
class Foreign:
    """A function that makes one such environment, and that can be sent to another process."""

    name: str
    """As the user gave it: "CartPole-v1", "my_package.my_module:MyEnv-v0"."""
    source: str | EnvSpec
    """What Gymnasium makes it from. A name that says which module registers it is enough in any process; otherwise the
    registration itself, since another process may not know of it."""
    options: Mapping[str, Any]
    time_limit: int | None
    wrap: Wrap
    """What gives it its labels and its cost."""

    @property
    def note(self) -> str | None:
        """What a user should know before training in it for hours."""
        if self.wrap is not _harmless:
            return None
        return f"{self.name} gives neither labels nor cost, so nothing can be violated; see {GUIDE}."

    def __call__(self) -> gymnasium.Env[Any, Any]:
        env = self.wrap(_bare(self.name, self.source, self.options))
        return env if self.time_limit is None else gymnasium.wrappers.TimeLimit(env, self.time_limit)


def foreign(name: str, /, *, formula: Any = None, max_episode_steps: Any = None, **options: Any) -> Foreign:
    """Finds out, with an environment that is thrown away, what those of this name give.

    Args:
        name: A Gymnasium id, also with the module that registers it: "my_package.my_module:MyEnv-v0".
        formula: Ψ over the environment's own labels, if they are not to be judged by its own cost.
        max_episode_steps: In place of the registered time limit; -1 for none.
        options: For the environment's constructor.
    """
    module, colon, _ = name.rpartition(":")
    if colon and not all(part.isidentifier() for part in module.split(".")):
        raise AmbsError(f'the environment is "{name}", and has to be an id, or e.g. my_package.my_module:MyEnv-v0.')
    env = _bare(name, name, options)
    try:
        given = _look(env)
        assert env.unwrapped.spec is not None
        spec = gymnasium.spec(env.unwrapped.spec.id)
    finally:
        env.close()
    limit = spec.max_episode_steps if max_episode_steps is None else max_episode_steps
    return Foreign(
        name,
        name if colon else spec,
        options,
        None if limit in (None, -1) else positive_integer("max_episode_steps", limit),
        _way(name, given, formula),
    )


def _bare(name: str, source: str | EnvSpec, options: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Without the wrappers that expect a step to return five values: a cost may come after the reward."""
    return made(name, source, options, max_episode_steps=-1, disable_env_checker=True)


class _Given(NamedTuple):
    """What is in the info of a reset or of a step."""

    labels: Any
    """None if there are none."""
    cost: bool


def _look(env: gymnasium.Env[Any, Any]) -> _Given:
    env.action_space.seed(0)
    _, at_reset = env.reset(seed=0)
    *_, at_step = five_tuple(env.step(env.action_space.sample()))
    info = {**at_step, **at_reset}
    return _Given(info.get("labels"), "cost" in info)


def _way(name: str, given: _Given, formula: Any) -> Wrap:
    if formula is not None:
        if given.labels is None:
            advice = "leave it out, and the cost says what is violated" if given.cost else f"see {GUIDE}"
            raise AmbsError(f"{name} gives no labels, so there is nothing to evaluate '{formula}' on; {advice}.")
        if not isinstance(given.labels, Mapping):
            raise AmbsError(
                f"the labels of {name} are {given.labels!r}, and have to be a dictionary from atom to bool; register "
                "a function that returns ambs.labelled(env, formula=..., atoms=[...]), and train that."
            )
        return functools.partial(labelled, formula=formula)
    if given.cost:
        return AsGiven if isinstance(given.labels, Mapping) else from_cost
    if given.labels is not None:
        atoms = ", ".join(given.labels)
        raise AmbsError(f"{name} gives labels ({atoms}) but no cost; say what has to hold of them with a formula.")
    return _harmless


class AsGiven(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """An environment with labels and a cost of its own; a reset that gives no cost costs nothing."""

    def __init__(self, env: gymnasium.Env[Any, Any]) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self)
        gymnasium.Wrapper.__init__(self, env)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, {"cost": 0.0, **info}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        return five_tuple(self.env.step(action))


def _harmless(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    return labelled(env, {"violation": _never}, formula="!violation")


def _never(observation: Any, info: Mapping[str, Any]) -> bool:
    return False

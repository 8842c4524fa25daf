"""A run as it is on disk: its configuration, and what it needs to act, from its last good checkpoint.

Nothing is written and nothing is locked, so a run can be read while another process trains it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import gymnasium
import jax
from gymnasium import spaces

from ambs.agents.learner import Learner
from ambs.agents.player import ActionCodec
from ambs.envs.catalogue import listed, maker
from ambs.envs.guards import GuardConfig, guarded_maker
from ambs.errors import AmbsError
from ambs.logic import satisfiable
from ambs.runs.as_before import AS_BEFORE
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.storage import Checkpoint, load, read_config
from ambs.runs.trainee import Settings
from ambs.world_model.parts import parts_of

# Of everything that is learned, what acting needs; with a shield, what that asks besides.
_ACTING = (".model", ".task.actor")
_SHIELDING = (".safety.policy.actor", ".safety.critics.twins", ".safety.violation.net")

# What may be missing: what older runs do not have, and what was there before options were left out for that.
_ADDED = frozenset(
    {"pictures", "events", "ahead", "safety", "shield"} | {name.rpartition(".")[2] for name in AS_BEFORE}
)

# A training run removes old checkpoints: the one just found may be gone, and a newer one is there then.
_ATTEMPTS = 3


@dataclass(frozen=True)
class Saved:
    """What acts, apart from how: what was learned of that, and the spaces of the environment it was learned in."""

    config: RunConfig
    step: int
    """Environment steps of training."""
    learner: Learner
    """Without what acting does not need: there is None in the place of optimisers, and of the task's critic."""
    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]


def read(path: Path) -> Saved:
    """The run in `path`, as of its last good checkpoint."""
    config = config_of(path)
    env = make_env(config)
    observed, acted = env.observation_space, env.action_space
    env.close()
    codec = ActionCodec(acted)
    # Shapes only: the numbers come from the checkpoint, and the optimisers and critics are not needed.
    learner = eqx.filter_eval_shape(
        Learner.create,
        parts_of(observed), codec.size, config.learner, discrete=codec.discrete, key=jax.random.key(0),
    )  # fmt: skip
    needed = _ACTING if config.shield is None else _ACTING + _SHIELDING
    checkpoint = last_good(path / "checkpoints", {"learner": only(learner, needed)})
    if checkpoint is None:
        raise AmbsError(f"the run {path} has no good checkpoint yet; wait for its first, or train it for longer.")
    return Saved(config, checkpoint.step, checkpoint.tree["learner"], observed, acted)


def make_env(config: Settings, /, **options: Any) -> gymnasium.Env[Any, Any]:
    """An environment as the run was trained in; `options` go before those of the run."""
    return maker_of(config, **options)()


def maker_of(config: Settings, /, **options: Any) -> Callable[[], gymnasium.Env[Any, Any]]:
    """A function that makes such environments."""
    return maker(config.env, **{**env_options(config), **options})


def guarded_maker_of(config: Settings, guard: GuardConfig | None) -> Callable[[], gymnasium.Env[Any, Any]]:
    """The same with that guard, which keeps the run's formula; an error if they cannot have it."""
    make = maker_of(config)
    if guard is None:
        return make
    spec = listed(config.env)
    formula = config.formula if spec is None or config.formula is not None else spec.formula
    if formula is not None:
        require_satisfiable(formula)
    return guarded_maker(make, guard, formula=formula, name=config.env)


def require_satisfiable(formula: str) -> None:
    if not satisfiable(formula):
        raise AmbsError(
            f"no state satisfies '{formula}', which contradicts itself, so no shield can keep it; give another "
            "--formula."
        )


def env_options(config: Settings) -> dict[str, Any]:
    """What `ambs.make` is given for this run besides the name."""
    return config.env_options if config.formula is None else {**config.env_options, "formula": config.formula}


def config_of(path: Path) -> RunConfig:
    """The configuration that the run in `path` was started with."""
    agent = agent_of(path)
    if agent not in ("dreamer", "ambs", "lag"):
        raise AmbsError(f"{path} is a run of the {agent} agent, and has no world model to load.")
    return rebuilt(RunConfig, values_of(path), f"{path / 'config.json'}")


def agent_of(path: Path) -> str:
    """What the agent of the run in `path` is called."""
    if not (path / "config.json").exists() and (path / "summary.json").exists():
        return "tabular"
    return str(read_config(path).get("agent", "dreamer"))


def values_of(path: Path) -> dict[str, Any]:
    """Its configuration as it was saved."""
    return {name: value for name, value in read_config(path).items() if name != "agent"}


def rebuilt(kind: type[Any], values: Mapping[str, Any], where: str) -> Any:
    """A dataclass from what `dataclasses.asdict` and JSON made of it, nested ones by their type hints.

    Options that the version that made the run did not know yet are what was meant then.
    """
    hints = typing.get_type_hints(kind)
    known = {field.name: field for field in dataclasses.fields(kind)}
    for name in [*known, *values]:
        if name not in known or (name not in values and name not in _ADDED):
            problem = "has" if name in values else "lacks"
            raise AmbsError(f'{where} {problem} the option "{name}": the run was made by another version of ambs.')
    return kind(**{name: _value(hints[name], values[name], where) for name in known if name in values})


def _value(hint: Any, value: Any, where: str) -> Any:
    choices = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    for choice in choices:
        if dataclasses.is_dataclass(choice) and isinstance(choice, type) and isinstance(value, Mapping):
            return rebuilt(choice, value, where)
        # JSON knows lists only.
        if typing.get_origin(choice) is tuple and isinstance(value, list):
            return tuple(value)
    return value


def only(tree: Any, prefixes: tuple[str, ...]) -> Any:
    """The leaves whose names begin so; the others are left out."""
    return jax.tree_util.tree_map_with_path(
        lambda path, leaf: leaf if jax.tree_util.keystr(path).startswith(prefixes) else None, tree
    )


def last_good(folder: Path, like: Any) -> Checkpoint | None:
    """What is like `like` of the newest good checkpoint in `folder`, while another process may write others."""
    for _ in range(_ATTEMPTS - 1):
        with contextlib.suppress(FileNotFoundError):
            return load(folder, like, part=True)
    return load(folder, like, part=True)

"""Training with a shield by its name: one that the agent ambs has, or one beside the environments of any other."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ambs.commands.train_ambs import AmbsOptions, taken_apart
from ambs.envs.guards.config import GUARDS, GuardConfig
from ambs.errors import AmbsError

if TYPE_CHECKING:
    from ambs.commands.train import Train
    from ambs.runs.dreamer import RunConfig
    from ambs.runs.value import ValueRunConfig

    Config = TypeVar("Config", RunConfig, ValueRunConfig)


@dataclass(frozen=True)
class GuardOptions:
    """For all agents but tabular."""

    shield: str | None = None
    """A shield by name. Around dreamer, lag, rainbow and iqn: prescience (searches the environment itself for a safe
    path, where it can be saved and restored) or classical (exact, in conveyor worlds; with --tolerance and
    --look-ahead). For ambs the same as --criterion. None if not given."""

    depth: int | None = None
    """Steps of the paths that prescience searches; 5 if not given."""

    dice: str | None = None
    """What prescience knows of chance: same (what the environment will draw, too) or own (dice of its own); same if not
    given."""


def with_criterion(options: AmbsOptions, given: GuardOptions) -> AmbsOptions:
    """For ambs, whose shield imagines, the name of a shield is its criterion."""
    for option in ("depth", "dice"):
        if getattr(given, option) is not None:
            raise AmbsError(f"--{option} is how prescience searches, and ambs imagines; leave it out.")
    if given.shield is None:
        return options
    if given.shield in ("none", *GUARDS):
        raise AmbsError(
            f"--shield {given.shield} is not for the agent ambs, which has a shield of its own; add --agent dreamer."
        )
    if options.criterion not in (None, given.shield):
        raise AmbsError(
            f"--shield is {given.shield} and --criterion {options.criterion}, which for ambs are the same; leave one "
            "of them out."
        )
    return dataclasses.replace(options, criterion=given.shield)


def guarded(config: Config, command: Train) -> Config:
    """The run, with a shield beside its environments if one is asked for."""
    name, depth, dice = command.guard.shield, command.guard.depth, command.guard.dice
    for option, value in (("depth", depth), ("dice", dice)):
        if value is not None and name != "prescience":
            raise AmbsError(f"--{option} is how prescience searches; add --shield prescience, or leave it out.")
    if name in (None, "none"):
        return config
    require_guard(name, command.agent)
    given: dict[str, Any] = {"name": name, "depth": depth, "dice": dice}
    formula = command.formula
    if name == "classical":
        formula, given["Delta"], given["look_ahead"] = taken_apart(command.formula, command.ambs)
    guard = GuardConfig(**{key: value for key, value in given.items() if value is not None})
    return dataclasses.replace(config, formula=formula, guard=guard)


def require_guard(name: str, agent: str) -> None:
    from ambs.agents.shielding import CRITERIA

    if name in CRITERIA:
        raise AmbsError(
            f"--shield {name} imagines with a safe policy and critics, and {agent} learns none; add --agent ambs, or "
            f"take {' or '.join(GUARDS)}."
        )
    if name not in GUARDS:
        raise AmbsError(f'there is no shield "{name}"; choose one of {", ".join((*GUARDS, *CRITERIA))}.')

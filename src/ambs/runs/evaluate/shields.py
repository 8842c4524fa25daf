"""Which shield an agent is played with: the one it was trained with, none, or another by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from ambs.agents.shielding import CRITERIA, ShieldConfig
from ambs.envs.guards import GUARDS, GuardConfig
from ambs.errors import AmbsError
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.value.config import ValueRunConfig

NONE = "none"
SHIELDS = (NONE, *GUARDS, *CRITERIA)


class Chosen(NamedTuple):
    """At most one of them is not None."""

    shield: ShieldConfig | None
    """That imagines, and belongs to the agent."""
    guard: GuardConfig | None
    """That asks the environment, and belongs to that."""

    @property
    def name(self) -> str:
        if self.shield is not None:
            return self.shield.criterion
        return NONE if self.guard is None else self.guard.name


def chosen(config: RunConfig | ValueRunConfig, shield: Any = True) -> Chosen:
    """What `shield` means for a run: True for its own, False or "none" for none, a name, or a `GuardConfig`."""
    if isinstance(shield, bool):
        return Chosen(config.shield, config.guard) if shield else Chosen(None, None)
    if isinstance(shield, GuardConfig):
        return Chosen(None, shield)
    if shield not in SHIELDS:
        raise AmbsError(f"the shield is {shield!r}, and has to be one of {', '.join(SHIELDS)}.")
    if shield == NONE:
        return Chosen(None, None)
    if shield in GUARDS:
        return Chosen(None, guard_like(config, shield))
    if not isinstance(config, RunConfig) or config.shield is None:
        raise AmbsError(
            f"the shield {shield} imagines with a safe policy and critics, and the agent {config.agent} has learned "
            f"none; take {', '.join(GUARDS)} or none, or a run of ambs."
        )
    # The run checks that its learner fits the criterion.
    return Chosen(replace(config, shield=replace(config.shield, criterion=shield)).shield, None)


def guard_like(config: RunConfig | ValueRunConfig, name: str) -> GuardConfig:
    """A guard with the run's own numbers, where it has any."""
    if config.guard is not None:
        return replace(config.guard, name=name)
    if isinstance(config, RunConfig) and config.shield is not None and config.learner.safety is not None:
        return GuardConfig(name, Delta=config.shield.Delta, look_ahead=config.learner.safety.look_ahead)
    return GuardConfig(name)

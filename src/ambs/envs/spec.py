"""What the catalogue says of an environment: its name, its atoms, its formula and where its labels come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class EnvSpec:
    """One labelled environment that comes with ambs; what is known without making it."""

    name: str
    """Lower case with hyphens, as `ambs.make` and the command line take it: "kung-fu-master"."""
    id: str
    """Its Gymnasium id without the namespace: "KungFuMaster-v0"."""
    entry_point: str
    """Where its class is: "ambs.envs.conveyor:Conveyor". It takes `formula=`, `cost=` and `render_mode=`."""
    atoms: Mapping[str, str]
    """Atom → what makes it true, in a few words."""
    formula: str
    """Ψ, the default safety formula, propositional over the atoms."""
    labels_from: str
    """Where the labels come from: "the map", "the emulator's RAM, every frame"."""
    observation: str
    """The default observation, as a person would say it: "64×64 RGB"."""
    actions: str
    """Likewise: "18 discrete"."""
    time_limit: str
    """When an episode is cut off, whoever does it: "100 steps"."""
    max_episode_steps: int | None = None
    """The time limit that Gymnasium applies, if the environment has none of its own."""
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    """What the entry point is called with: which game, which map."""

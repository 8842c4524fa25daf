"""Training with a Lagrangian: from options to what is constrained and how."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ambs.runs.dreamer import RunConfig


@dataclass(frozen=True)
class LagOptions:
    """Only for the agent lag."""

    cost_threshold: float | None = None
    """d, what the policy may cost, where a violation costs 10; if not given 10 gamma^30, what a violation in 30 steps
    costs."""

    lagrange_multiplier: float | None = None
    """lambda to begin with; 0.01 if not given, and 0.000001 with the preset paper."""

    penalty_multiplier: float | None = None
    """mu to begin with; 0.001 if not given, and 0.000000005 with the preset paper."""

    penalty_power: float | None = None
    """By what share mu grows at every update; 0.001 if not given, and 0.00001 with the preset paper."""

    cost_means: Literal["expected", "symlog"] | None = None
    """What the critics of cost tell: its mean (expected), or one in symlog space, far less where costs come by chance
    (symlog); expected if not given, and symlog with the preset paper."""


def constrained(config: RunConfig, options: LagOptions, *, paper: bool) -> RunConfig:
    """The run, with what LAG learns."""
    from ambs.runs.dreamer.config import with_lagrangian

    learner = with_lagrangian(config.learner, paper=paper)
    assert learner.lagrangian is not None
    given: dict[str, Any] = {
        "threshold": options.cost_threshold, "lagrange": options.lagrange_multiplier,
        "penalty": options.penalty_multiplier, "power": options.penalty_power,
        "expected": None if options.cost_means is None else options.cost_means == "expected",
    }  # fmt: skip
    lagrangian = dataclasses.replace(
        learner.lagrangian, **{name: value for name, value in given.items() if value is not None}
    )
    return dataclasses.replace(config, learner=dataclasses.replace(learner, lagrangian=lagrangian))

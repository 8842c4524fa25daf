"""What a run of a tabular agent leaves behind: sums over blocks of steps, and counts by state."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ambs.tabular.agent import Step

# An episode of the conveyor: a block's reward is then a return.
BLOCK = 100


@dataclass
class Record:
    """A run, block by block of 100 steps.

    Attributes:
        returns: reward of each block.
        violations: steps whose state broke the formula.
        overrides: proposals that the shield replaced.
        traces: drawn for the block's decisions.
        refused: by state, how often a proposal was replaced there.
    """

    returns: list[float] = field(default_factory=list)
    violations: list[int] = field(default_factory=list)
    overrides: list[int] = field(default_factory=list)
    traces: list[int] = field(default_factory=list)
    refused: dict[int, int] = field(default_factory=dict)

    @property
    def steps(self) -> int:
        return BLOCK * len(self.returns)

    def final_return(self, blocks: int = 10) -> float:
        """The mean over the last blocks."""
        return float(np.mean(self.returns[-blocks:]))

    def late_violations(self, blocks: int = 10) -> int:
        return sum(self.violations[-blocks:])

    def as_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self) | {"block": BLOCK}


def record(steps: Iterable[Step]) -> Record:
    """Sums up a run while it happens; a last block that is not full is left out."""
    run, block = Record(), list[Step]()
    for step in steps:
        block.append(step)
        if step.decision is not None and bool(step.decision.overridden):
            run.refused[step.state] = run.refused.get(step.state, 0) + 1
        if len(block) == BLOCK:
            run.returns.append(float(sum(one.reward for one in block)))
            run.violations.append(sum(one.violated for one in block))
            run.overrides.append(sum(bool(one.decision.overridden) for one in block if one.decision is not None))
            run.traces.append(sum(int(one.decision.traces) for one in block if one.decision is not None))
            block = []
    return run

"""What a run counts: steps, episodes, violations, returns; saved with every checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ambs.envs.vector import Batch


@dataclass(frozen=True)
class Episode:
    """An episode that has ended."""

    episode_return: float
    length: int
    violations: int


@dataclass
class Counters:
    """Totals of a run. The current episodes are not among them: a resumed run begins new ones."""

    steps: int = 0
    updates: int = 0
    episodes: int = 0
    violations: int = 0
    best_return: float | None = None
    recent: list[float] = field(default_factory=list)
    """The last returns, a hundred at most."""

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


class Scorer:
    """Adds up the episodes under way, one an environment."""

    def __init__(self, envs: int) -> None:
        self.returns, self.lengths, self.violations = np.zeros(envs), np.zeros(envs, int), np.zeros(envs, int)

    def add(self, batch: Batch, counters: Counters) -> Iterator[Episode]:
        """Counts one step of every environment, and gives the episodes that it ended."""
        fresh = batch.is_first
        for total in (self.returns, self.lengths, self.violations):
            total[fresh] = 0
        self.returns += batch.reward
        self.lengths += ~fresh
        self.violations += ~fresh & (batch.cost > 0)
        counters.steps += int((~fresh).sum())
        counters.violations += int((~fresh & (batch.cost > 0)).sum())
        for env in np.flatnonzero(batch.is_last):
            episode = Episode(float(self.returns[env]), int(self.lengths[env]), int(self.violations[env]))
            counters.episodes += 1
            best = counters.best_return
            counters.best_return = episode.episode_return if best is None else max(best, episode.episode_return)
            counters.recent = [*counters.recent[-99:], episode.episode_return]
            yield episode

"""What a run counts: steps, episodes, violations, returns; saved with every checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ambs.envs.vector import Batch

# How many of the last returns `final_return` is the mean of.
RECENT = 100


@dataclass(frozen=True)
class Episode:
    """An episode that has ended."""

    episode_return: float
    length: int
    violations: int


@dataclass
class Counters:
    """Totals of a run. `steps` and `violations` are also those of the episodes under way."""

    steps: int = 0
    updates: int = 0
    episodes: int = 0
    violations: int = 0
    shielded: int = 0
    """Steps whose action the shield has judged."""
    overrides: int = 0
    """Those of them in which it took over."""
    rewarded: bool = False
    """Whether a reward was ever other than 0."""
    best_return: float | None = None
    recent: list[float] = field(default_factory=list)
    """The last returns, a hundred at most."""
    wall_seconds: float = 0.0
    """Time spent, over all the times that the run was resumed."""
    cpu_seconds: float = 0.0
    """The same of the processor, by this process: environments in processes of their own are not counted."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Counters:
        """Older checkpoints do not tell of rewards, but of returns."""
        return cls(**{"rewarded": any(saved.get("recent", ())), **saved})

    @property
    def override_rate(self) -> float:
        """Of the actions that the shield has judged."""
        return round(self.overrides / max(1, self.shielded), 4)

    def mean_return(self, episodes: int = RECENT) -> float | None:
        """Of the last episodes that have ended."""
        return float(np.mean(self.recent[-episodes:])) if self.recent else None


class Scorer:
    """Adds up the episodes under way, one an environment."""

    def __init__(self, envs: int) -> None:
        self.returns, self.lengths, self.violations = np.zeros(envs), np.zeros(envs, int), np.zeros(envs, int)

    def add(self, batch: Batch, counters: Counters) -> Iterator[Episode]:
        """Counts one step of every environment, and gives the episodes that it ended."""
        fresh = batch.is_first
        violated = ~fresh & (batch.cost > 0)
        self.returns += batch.reward
        self.lengths += ~fresh
        self.violations += violated
        counters.steps += int((~fresh).sum())
        counters.violations += int(violated.sum())
        counters.rewarded |= bool(batch.reward.any())
        for env in np.flatnonzero(batch.is_last):
            episode = Episode(float(self.returns[env]), int(self.lengths[env]), int(self.violations[env]))
            counters.episodes += 1
            best = counters.best_return
            counters.best_return = episode.episode_return if best is None else max(best, episode.episode_return)
            counters.recent = [*counters.recent[1 - RECENT :], episode.episode_return]
            yield episode
        for total in (self.returns, self.lengths, self.violations):
            total[batch.is_last] = 0

    def as_json(self) -> dict[str, list[Any]]:
        return {name: getattr(self, name).tolist() for name in ("returns", "lengths", "violations")}

    @classmethod
    def from_json(cls, saved: Mapping[str, list[Any]]) -> Scorer:
        scorer = cls(len(saved["returns"]))
        for total, values in (
            (scorer.returns, "returns"),
            (scorer.lengths, "lengths"),
            (scorer.violations, "violations"),
        ):
            total[:] = saved[values]
        return scorer

"""Episodes played to be counted: so many in each environment, settled before the first begins.

Taking the first N episodes that end would count short ones too often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ambs.envs.vector import VectorEnv
from ambs.runs.dreamer.counters import Counters, Episode, Scorer
from ambs.runs.evaluate.loading import LoadedAgent


@dataclass(frozen=True)
class Played:
    """An episode, where it was played, and by which actions."""

    env: int
    number: int
    """Which of that environment's episodes it was; with `env`, what its seed is made of."""
    episode: Episode
    actions: np.ndarray
    """`[length, ...]`, as the environment takes them."""
    overrides: int = 0
    """Actions that the shield did not let through."""
    searched: int = 0
    """Steps of the environment that its guard tried, if it has one."""
    seconds: float = 0.0
    """How long that took."""


def quotas(episodes: int, envs: int) -> list[int]:
    """How many episodes each environment plays: as many as the others, or one more."""
    return [episodes // envs + (env < episodes % envs) for env in range(envs)]


def play(agent: LoadedAgent, vec: VectorEnv, quota: list[int], *, deterministic: bool) -> Iterator[Played]:
    """The episodes as they end. An environment that has played its share goes on, and is not counted."""
    left = list(quota)
    scorer, counters = Scorer(vec.num_envs), Counters()
    actions: list[list[np.ndarray]] = [[] for _ in quota]
    overrides, searched, seconds = np.zeros(len(quota), int), np.zeros(len(quota), int), np.zeros(len(quota))
    batch = vec.reset()
    memory: Any = None
    preferences: np.ndarray | None = None
    while any(left):
        if agent.shielded:
            action, memory, decision = agent.decide(batch.obs, memory, batch.is_first, deterministic)
            overrides += np.asarray(decision.overridden) & ~batch.is_last
        else:
            action, memory, preferences = agent.propose(batch.obs, memory, batch.is_first, deterministic)
        if agent.chosen.guard is not None:
            verdicts = vec.guard(action, preferences)
            action, memory = verdicts.actions, agent.played(memory, verdicts.actions)
            overrides += verdicts.overridden
            searched += verdicts.steps
            seconds += verdicts.seconds
        # Where an episode is over, the next step begins another, whatever the action.
        for env in np.flatnonzero(~batch.is_last).tolist():
            actions[env].append(action[env])
        batch = vec.step(action)
        ended = np.flatnonzero(batch.is_last)
        for env, episode in zip(ended.tolist(), scorer.add(batch, counters), strict=True):
            if left[env]:
                left[env] -= 1
                yield Played(
                    env, vec.episodes[env], episode, np.array(actions[env]), int(overrides[env]), int(searched[env]),
                    float(seconds[env]),
                )  # fmt: skip
            actions[env], overrides[env], searched[env], seconds[env] = [], 0, 0, 0.0

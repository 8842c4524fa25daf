"""Episodes played to be counted: so many in each environment, settled before the first begins.

Taking the first N episodes that end would count short ones too often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

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
    estimates: float = 0.0
    """The estimates of its decisions, added up."""
    known: int = 0
    """Decisions that have one."""
    traces: int = 0
    """Traces that its decisions drew; of a guard, which draws none, 0."""
    searched: int = 0
    """Steps of the environment that its guard tried, if it has one."""
    seconds: float = 0.0
    """How long that took."""


# What is added up over the steps of an episode, under its name in `Played`.
_SUMS: dict[str, type] = {
    "overrides": int, "estimates": float, "known": int, "traces": int, "searched": int, "seconds": float,
}  # fmt: skip


def quotas(episodes: int, envs: int) -> list[int]:
    """How many episodes each environment plays: as many as the others, or one more."""
    return [episodes // envs + (env < episodes % envs) for env in range(envs)]


def play(agent: LoadedAgent, vec: VectorEnv, quota: list[int], *, deterministic: bool) -> Iterator[Played]:
    """The episodes as they end. An environment that has played its share goes on, and is not counted."""
    left = list(quota)
    scorer, counters = Scorer(vec.num_envs), Counters()
    actions: list[list[np.ndarray]] = [[] for _ in quota]
    sums: dict[str, np.ndarray] = {name: np.zeros(len(quota), kind) for name, kind in _SUMS.items()}
    batch = vec.reset()
    memory: Any = None
    preferences: np.ndarray | None = None
    while any(left):
        # Where an episode is over, the next step begins another, whatever the action.
        going_on = ~batch.is_last
        if agent.shielded:
            action, memory, decision = agent.decide(batch.obs, memory, batch.is_first, deterministic)
            sums["overrides"] += np.asarray(decision.overridden) & going_on
            sums["traces"] += np.where(going_on, decision.traces, 0)
            _add_estimates(sums, np.asarray(decision.estimate), going_on)
        else:
            action, memory, preferences = agent.propose(batch.obs, memory, batch.is_first, deterministic)
        if agent.chosen.guard is not None:
            verdicts = vec.guard(action, preferences)
            action, memory = verdicts.actions, agent.played(memory, verdicts.actions)
            sums["overrides"] += verdicts.overridden
            sums["searched"] += verdicts.steps
            sums["seconds"] += verdicts.seconds
            _add_estimates(sums, verdicts.estimate, verdicts.asked)
        for env in np.flatnonzero(going_on).tolist():
            actions[env].append(action[env])
        batch = vec.step(action)
        ended = np.flatnonzero(batch.is_last)
        for env, episode in zip(ended.tolist(), scorer.add(batch, counters), strict=True):
            if left[env]:
                left[env] -= 1
                told = {name: each[env].item() for name, each in sums.items()}
                yield Played(env, vec.episodes[env], episode, np.array(actions[env]), **told)
            actions[env] = []
            for each in sums.values():
                each[env] = 0


def _add_estimates(
    sums: dict[str, np.ndarray], estimate: Float[np.ndarray, " envs"], decided: Bool[np.ndarray, " envs"]
) -> None:
    """Those that there are: a model that predicted no number, or a guard that does not say, leaves NaN."""
    known = decided & np.isfinite(estimate)
    sums["estimates"] += np.where(known, estimate, 0.0)
    sums["known"] += known

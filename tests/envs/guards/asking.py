"""What the guards of a vector are asked while a run goes on, and whether the next-best action is what they answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ambs.envs.vector import VectorEnv, Verdicts


class Asked(NamedTuple):
    """One question to all environments."""

    proposed: np.ndarray
    preferences: np.ndarray | None
    verdicts: Verdicts
    safe: np.ndarray
    """`[envs, actions]`: which actions would have been let through."""


def watch(monkeypatch) -> list[Asked]:
    """Everything that prescience is asked from now on. It is asked of every action in turn as well: that leaves no
    trace, and a proposed action is let through if it is safe, or if none is."""
    guard, told = VectorEnv.guard, []

    def watched(vector, actions, preferences=None):
        verdicts = guard(vector, actions, preferences)
        alone = [guard(vector, np.full(len(actions), each)) for each in range(int(vector.single_action_space.n))]
        safe = np.stack([~one.overridden & (one.estimate == 1) for one in alone], axis=1)
        told.append(Asked(np.asarray(actions), preferences, verdicts, safe))
        return verdicts

    monkeypatch.setattr(VectorEnv, "guard", watched)
    return told


def other_than_the_first(told: list[Asked]) -> int:
    """How often the next-best was another than the safe action of the lowest number; an error if it was not played."""
    others = 0
    for asked in told:
        for row in np.flatnonzero(asked.verdicts.overridden):
            safe = np.flatnonzero(asked.safe[row])
            liked = np.zeros(len(safe)) if asked.preferences is None else asked.preferences[row, safe]
            assert asked.verdicts.actions[row] == safe[np.argmax(liked)]
            others += int(np.argmax(liked) > 0)
    return others

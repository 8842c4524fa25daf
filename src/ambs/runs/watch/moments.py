"""What there is to see of an environment, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from jaxtyping import UInt8

from ambs.envs.scripted import Policy
from ambs.errors import AmbsError


@dataclass(frozen=True)
class Moment:
    """One state as a person sees it, and what led there."""

    frame: UInt8[np.ndarray, "height width 3"]
    time: int
    """Steps since the beginning, over all episodes."""
    episode: int
    step: int
    """Steps since the episode's beginning; 0 is the reset."""
    action: str
    """What was done to get here; "reset" at an episode's beginning."""
    reward: float
    total_reward: float
    """The episode's return so far."""
    labels: Mapping[str, bool]
    rising: frozenset[str]
    """The atoms that have just become true."""
    cost: float
    violations: int
    """States that broke the formula, since the beginning."""


def moments(
    env: gymnasium.Env[Any, Any], policy: Policy, names: tuple[str, ...], steps: int, seed: int
) -> Iterator[Moment]:
    """The states of `steps` steps, those that episodes begin in besides.

    `names` are those of the actions, in their order; with none, an action is its numbers.
    """
    time, episode, violations = 0, 0, 0
    while time < steps:
        observation, info = env.reset(seed=seed if episode == 0 else None)
        episode, step, total, over = episode + 1, 0, 0.0, False
        action, reward, before = "reset", 0.0, dict.fromkeys(info["labels"], False)
        while True:
            violations += info["cost"] > 0
            labels = info["labels"]
            rising = frozenset(atom for atom, true in labels.items() if true and not before[atom])
            yield Moment(
                _frame(env), time, episode, step, action, reward, total, labels, rising, info["cost"], violations
            )
            if over or time == steps:
                break
            chosen = policy(observation, info)
            observation, gained, terminated, truncated, info = env.step(chosen)
            before, action, reward = labels, _said(names, chosen), float(gained)
            total, over = total + reward, bool(terminated or truncated)
            time, step = time + 1, step + 1


def _said(names: tuple[str, ...], action: Any) -> str:
    return names[int(action)] if names else np.array2string(np.asarray(action), precision=2)


def _frame(env: gymnasium.Env[Any, Any]) -> UInt8[np.ndarray, "height width 3"]:
    frame: Any = env.render()
    if not isinstance(frame, np.ndarray) or frame.ndim != 3:
        raise AmbsError(f"{env} draws no picture, so there is nothing to watch.")
    # Some environments draw into the same array again.
    return np.array(frame, np.uint8)

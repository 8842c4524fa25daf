"""Where a run is in its environments, saved with each checkpoint and found again when the run is resumed.

Environments are not saved; nobody knows how to save any of them. Their episodes are played again instead: an episode is
decided by its seed and its actions, and the actions are in the replay.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import jax
import numpy as np

from ambs.agents.player import ActionCodec
from ambs.envs.vector import Batch, ReplayError, VectorEnv
from ambs.replay import Ring
from ambs.world_model.parts import as_parts


@dataclass
class Position:
    """What the agent sees now, and has not put into the replay yet."""

    batch: Batch
    action: np.ndarray
    """The model's actions that led to it, a row an environment."""
    memory: Any
    """What the agent remembers of all before: a tree of arrays."""

    def as_tree(self) -> dict[str, Any]:
        """For a checkpoint. The labels are left out: nothing is learned from them but the cost."""
        seen = {field.name: getattr(self.batch, field.name) for field in fields(self.batch)}
        del seen["labels"]
        return {"memory": self.memory, "action": self.action, "batch": seen | {"obs": as_parts(self.batch.obs)}}

    def go_back(
        self, saved: dict[str, Any], episodes: Sequence[int], vec: VectorEnv, ring: Ring, codec: ActionCodec
    ) -> bool:
        """Brings the environments to where they were; if that cannot be, begins new episodes and says False.

        Args:
            saved: What `as_tree` gave then.
            episodes: What `vec.episodes` was then.
            vec: The environments.
            ring: As it was then.
            codec: Between the replay's actions and the environments'.
        """
        self.memory, self.action = saved["memory"], saved["action"]
        actions = [_played(ring, lane, saved, codec) for lane in range(vec.num_envs)]
        if any(each is None for each in actions):
            reason = "the replay no longer holds their beginning"
        elif self._replayed(saved, episodes, vec, actions):
            return True
        else:
            reason = "the environment is not decided by its seed and the actions"
        nothing = codec.decode(self.action[:0])
        self.batch = vec.replay([episode + 1 for episode in episodes], [nothing] * vec.num_envs)
        warnings.warn(
            f"new episodes have begun, for those under way could not be played again: {reason}.", stacklevel=2
        )
        return False

    def _replayed(self, saved: dict[str, Any], episodes: Sequence[int], vec: VectorEnv, actions: list[Any]) -> bool:
        """Whether the same episodes with the same actions have led to where they led then."""
        try:
            self.batch = vec.replay(episodes, actions)
        except ReplayError:
            return False
        return _same(self.as_tree()["batch"], saved["batch"])


def _played(ring: Ring, lane: int, saved: dict[str, Any], codec: ActionCodec) -> np.ndarray | None:
    """The environment's actions since its episode began; None if the replay has forgotten the first ones."""
    if saved["batch"]["is_first"][lane]:
        return codec.decode(saved["action"][:0])
    stored = ring.since("is_first", "action", lane)
    # The first row is the reset, which no action led to; the last action led to what is not in the replay yet.
    return None if stored is None else codec.decode(np.concatenate([stored[1:], saved["action"][lane : lane + 1]]))


def _same(now: dict[str, Any], then: dict[str, Any]) -> bool:
    """Bit by bit, so that NaN is NaN."""
    leaves = zip(jax.tree.leaves(now), jax.tree.leaves(then), strict=True)
    return all(mine.tobytes() == theirs.tobytes() for mine, theirs in leaves)

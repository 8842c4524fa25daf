"""Actions at random that get somewhere: each is held for a while."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from ambs.agents.player import ActionCodec
from ambs.runs.dreamer.position import Position


def random_actions(
    codec: ActionCodec, position: Position, hold: int, rng: np.random.Generator
) -> Float[np.ndarray, "envs actions"]:
    """Of every environment: a new one, or the one before once more, `hold` steps long on average.

    The one before is what was played, also where a shield had it played: whoever was led away goes on that way.
    """
    fresh = codec.random(rng, len(position.action))
    if hold == 1:
        return fresh
    held = (rng.random(len(fresh)) >= 1 / hold) & ~position.batch.is_first
    return np.where(held[:, None], position.action, fresh)

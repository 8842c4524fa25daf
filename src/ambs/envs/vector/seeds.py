"""Every episode of every environment of a vector has a seed of its own, whatever process it is played in."""

from __future__ import annotations

import numpy as np


def env_seed(seed: int, env: int, episode: int = 0) -> int:
    """The seed that environment `env` is reset with to begin its episode number `episode`.

    Drawn from NumPy's SeedSequence with entropy `seed` and spawn key `(env, episode)`; 31 bits, which every simulator
    takes. So an episode is determined by where it is in this count and by its actions, and by nothing before it.
    """
    return int(np.random.SeedSequence(seed, spawn_key=(env, episode)).generate_state(1)[0] >> 1)

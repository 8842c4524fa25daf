"""Every environment of a vector has a seed of its own, whatever process it runs in."""

from __future__ import annotations

import numpy as np


def env_seed(seed: int, env: int, restarts: int = 0) -> int:
    """The seed of the first reset of environment `env` after it was made anew `restarts` times.

    Drawn from NumPy's SeedSequence with entropy `seed` and spawn key `(env, restarts)`; 31 bits, which every simulator
    takes. Later resets go on with the environment's own generator.
    """
    return int(np.random.SeedSequence(seed, spawn_key=(env, restarts)).generate_state(1)[0] >> 1)

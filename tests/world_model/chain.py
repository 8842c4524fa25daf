"""A Markov chain with known probabilities, as sequences for a world model.

The state is what is seen. What a state costs and whether the episode ends in it is decided by coins that are not seen:
a model can only learn how likely they are.
"""

import jax
import jax.numpy as jnp
import numpy as np

from ambs.world_model.model import Sequences
from ambs.world_model.parts import Part

PARTS = (Part("", "binary", (3,)),)
KERNEL = np.array([[0.5, 0.3, 0.2], [0.1, 0.5, 0.4], [0.6, 0.2, 0.2]])
COSTLY = np.array([0.0, 0.3, 1.0])
OVER = np.array([0.05, 0.4, 0.2])
COST = 10.0


def sequences(rng, batch=16, length=16):
    """Walks from a random state, with actions that do nothing; episodes begin in state 0."""
    state, is_first, rows = rng.integers(3, size=batch), np.ones(batch, bool), []
    for _ in range(length):
        cost = COST * (rng.random(batch) < COSTLY[state])
        terminal = rng.random(batch) < OVER[state]
        rows.append((np.eye(3, dtype=np.uint8)[state], cost.astype(np.float32), is_first, terminal))
        following = (rng.random((batch, 1)) >= KERNEL[state].cumsum(1)[:, :2]).sum(1)
        state, is_first = np.where(terminal, 0, following), terminal
    obs, cost, first, terminal = (np.stack(column, 1) for column in zip(*rows, strict=True))
    actions = np.eye(2, dtype=np.float32)[rng.integers(2, size=cost.shape)]
    return jax.tree.map(jnp.asarray, Sequences({"": obs}, actions, np.zeros_like(cost), cost, first, terminal))

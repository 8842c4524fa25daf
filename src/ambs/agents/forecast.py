"""What the model foretells of violations if the task policy has its way: the claims that a shield would rest on."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.agents.learner import Learner
from ambs.agents.player import Memory
from ambs.shield.imagine import imagine
from ambs.world_model.events import VIOLATION, Events
from ambs.world_model.rssm import without_gradient

# Imagined for each forecast. With so many, what chance adds to a Brier score is at most 1/128.
TRACES = 32


@eqx.filter_jit
def forecast(
    learner: Learner, memory: Memory, look_ahead: int, *, key: PRNGKeyArray
) -> tuple[Float[Array, " envs"], Float[Array, " envs"]]:
    """How likely the next state breaks the formula, and how likely one of the next `look_ahead` does, if the action
    that is remembered is played and the task policy goes on; for every environment."""
    model = learner.model

    def trace(state: Any, action: Array, key: PRNGKeyArray) -> tuple[Array, Array]:
        rolled = imagine(Events(model), learner.task.actor, state, look_ahead, key=key, first_action=action)
        first = 1 - model.predict_safe(rolled.states.features[0])
        # What would come after the end of an episode does not happen.
        reached = jnp.cumprod(jnp.concatenate([jnp.ones(1), rolled.predictions.cont[:-1]])) > 0
        return first, jnp.any(rolled.predictions.labels[VIOLATION] & reached)

    def one(state: Any, action: Array, key: PRNGKeyArray) -> tuple[Array, Array]:
        first, within = jax.vmap(trace, in_axes=(None, None, 0))(state, action, jax.random.split(key, TRACES))
        return first.mean(), within.astype(jnp.float32).mean()

    keys = jax.random.split(key, len(memory.action))
    return jax.vmap(one)(without_gradient(memory.state), memory.action, keys)

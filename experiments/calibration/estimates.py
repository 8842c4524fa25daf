"""What the shield says of proposed actions: by so many traces that chance hardly matters, and as its test decides."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, shield_of
from ambs.world_model.model import WorldState


class Said(NamedTuple):
    """A row a state."""

    estimate: Float[Array, " states"]
    """The share of the traces that satisfied the formula; not where the test stopped, which is on luck."""
    accepted: Bool[Array, " states"]
    """What the test decided, by traces of its own."""


@eqx.filter_jit
def say(
    learner: Learner, shield: ShieldConfig, look_ahead: int, state: WorldState,
    proposed: Float[Array, "states actions"], traces: int, *, key: PRNGKeyArray,
) -> Said:  # fmt: skip
    asked = shield_of(learner, shield, learner.task.config.horizon, look_ahead)

    def one(row: tuple[WorldState, Array, PRNGKeyArray]) -> Said:
        state, proposed, key = row
        many, own = jax.random.split(key)
        satisfied, _ = jax.vmap(lambda key: asked.trace(state, proposed, key))(jax.random.split(many, traces))
        return Said(jnp.mean(satisfied), ~asked(state, proposed, key=own).overridden)

    # One state after another: the traces of one are batch enough.
    return jax.lax.map(one, (state, proposed, jax.random.split(key, len(proposed))))

"""The world model as the shield asks it: what its heads hold for likely is drawn, and happens or does not.

Traces that are judged by means instead are all alike where it matters: one violation in two would never be one.
"""

from __future__ import annotations

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.types import Prediction
from ambs.world_model.model import WorldModel, WorldState

VIOLATION = "violation"


class Events(eqx.Module):
    """A model that predicts one label, `violation`: whether the state that is entered breaks the formula."""

    model: WorldModel
    labels: ClassVar[tuple[str, ...]] = (VIOLATION,)
    has_costs: ClassVar[bool] = False

    def step(
        self, state: WorldState, action: Float[Array, " actions"], *, key: PRNGKeyArray
    ) -> tuple[WorldState, Prediction]:
        move, draw = jax.random.split(key)
        following = self.model.imagine(state, action, key=move)
        features = following.features
        # One number for both, so that an end that might be a violation is never an end in safety.
        chance = jax.random.uniform(draw)
        violates = chance < 1 - self.model.predict_safe(features)
        goes_on = chance >= 1 - self.model.predict_continue(features)
        return following, Prediction(jnp.zeros(()), goes_on.astype(jnp.float32), {VIOLATION: violates})

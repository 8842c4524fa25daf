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
        safe, cont = self.model.predict_safe(features), self.model.predict_continue(features)
        violates, goes_on = chance < 1 - safe, chance >= 1 - cont
        # Neither draw can tell that it was made from no number; the cost, which means nothing else here, does.
        cost = jnp.where(jnp.isnan(safe) | jnp.isnan(cont), jnp.nan, 0.0)
        return following, Prediction(cost, goes_on.astype(jnp.float32), {VIOLATION: violates})

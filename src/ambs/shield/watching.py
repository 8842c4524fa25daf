"""A model that loses its mind is noticed: NaN anywhere in what it is given or gives."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, PRNGKeyArray

from ambs.errors import ModelError
from ambs.shield.fitting import ONE_STATE
from ambs.shield.imagine import Trajectory
from ambs.types import Action, Model, Prediction, State


class Watched(eqx.Module):
    """The model, with NaN anywhere in what it is given and gives told through `cont`.

    Step by step, because the states of all traces, kept until the end only to be looked through, would be much.
    """

    model: Model

    def step(self, state: State, action: Action, *, key: PRNGKeyArray) -> tuple[State, Prediction]:
        following, prediction = self.model.step(state, action, key=key)
        for name in ("cost", "cont"):
            shape = jnp.shape(getattr(prediction, name))
            if shape:
                raise ModelError(f"the model's step returned a {name} of shape {shape}: {ONE_STATE}.")
        lost = _has_nan((following, action, prediction.cost))
        return following, prediction._replace(cont=jnp.where(lost, jnp.nan, prediction.cont))


def lost(trajectory: Trajectory) -> Bool[Array, ""]:
    """Whether a watched model lost its mind along the way."""
    return jnp.any(jnp.isnan(trajectory.predictions.cont))


def _has_nan(tree: Any) -> Bool[Array, ""]:
    """Labels such as `state > 3` are false of NaN, and a lost state would pass as a safe one."""
    floating = [leaf for leaf in jax.tree.leaves(tree) if jnp.issubdtype(jnp.result_type(leaf), jnp.inexact)]
    return jnp.any(jnp.asarray([jnp.any(jnp.isnan(leaf)) for leaf in floating], bool))

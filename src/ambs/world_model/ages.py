"""For how many steps each cell of a grid has been as it is, which tells when something that moves every so many steps
will move on."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from ambs.world_model.rssm import where

# Steps without a change that are told apart. Of what has not changed since one began to look nobody knows them:
# sequences are cut out of episodes.
AGES = (0, 1, 2, 3, 4, 5, 6, 8, 10)
UNKNOWN = -1


def told_apart(
    age: Float[Array, "*shape rows columns"], cells: Float[Array, "*shape rows columns channels"]
) -> Bool[Array, "*shape rows columns ages"]:
    """Which of `AGES` each cell has reached; of an empty cell it does not matter for how long."""
    reached = age[..., None] >= jnp.asarray(AGES, age.dtype).reshape(*[1] * age.ndim, -1)
    return reached & jnp.any(cells > 0.5, axis=-1, keepdims=True)


def older(
    age: Float[Array, "*shape rows columns"],
    before: Float[Array, "*shape rows columns channels"],
    cells: Float[Array, "*shape rows columns channels"],
) -> Float[Array, "*shape rows columns"]:
    """Of every cell one step more, up to the last of `AGES`; or none, where it has changed."""
    same = jax.lax.stop_gradient(jnp.all((before > 0.5) == (cells > 0.5), axis=-1))
    more = jnp.where(age == UNKNOWN, UNKNOWN, jnp.minimum(age + 1, AGES[-1]))
    return jnp.where(same, more, 0).astype(age.dtype)


def ages(
    age: Float[Array, "batch rows columns"],
    before: Float[Array, "batch time rows columns channels"],
    cells: Float[Array, "batch time rows columns channels"],
    is_first: Bool[Array, "batch time"],
) -> Float[Array, "batch time rows columns"]:
    """`older` along sequences, `age` before the first row."""

    def step(age: Array, row: tuple[Array, ...]) -> tuple[Array, Array]:
        was, now, first = row
        age = older(where(first, jnp.full_like(age, UNKNOWN), age), was, now)
        return age, age

    by_time = tuple(jnp.swapaxes(each, 0, 1) for each in (before, cells, is_first))
    return jnp.swapaxes(jax.lax.scan(step, age, by_time)[1], 0, 1)

"""What an agent sees of a grid from where it is: what is around it, what was there a step ago, and where that is.

*Me* is the first channel that has exactly one cell, in grids of games the player.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

# How far around itself an agent sees what is where, and how far what was there before.
REACH = 4
NEAR = 1
# What happens to me (a hit, a reward, an end) is between me and what is, or was, next to me. Heads that learn of it
# from few examples find other reasons just as good in all else that there is to see, and those do not hold elsewhere:
# from 4,000 steps of Asterix they knew its hits by heart, and others not at all (`experiments.known_by_heart`). So all
# else is made smaller.
FAR = 0.1


def around_me(
    cells: Float[Array, "*shape rows columns channels"], before: Float[Array, "*shape rows columns channels"]
) -> tuple[
    Float[Array, "*shape seen"], Float[Array, "*shape was"], Float[Array, "*shape rows"], Float[Array, "*shape columns"]
]:
    """The cells as far as `REACH` around me, flat; those `before`, as far as `NEAR` around where I am now; and my row
    and column, one-hot. Zeros if there is no me."""
    single = jnp.abs(cells.sum(axis=(-3, -2)) - 1) < 0.5
    first = single & (jnp.cumsum(single, axis=-1) == 1)
    mine = jnp.einsum("...ijc,...c->...ij", cells, first.astype(cells.dtype))
    row, column = mine.sum(axis=-1), mine.sum(axis=-2)
    return _window(row, column, cells, REACH), _window(row, column, before, NEAR), row, column


def size_around_me(shape: tuple[int, int, int]) -> int:
    """How many numbers that is."""
    rows, columns, channels = shape
    return sum((2 * reach + 1) ** 2 for reach in (REACH, NEAR)) * channels + rows + columns


def nearness(shape: tuple[int, int, int]) -> Float[np.ndarray, " around"]:
    """Of those numbers: 1 for what is and was next to me, `FAR` for all others."""
    rows, columns, channels = shape
    steps = np.abs(np.arange(-REACH, REACH + 1)) <= NEAR
    near = np.repeat(np.outer(steps, steps).ravel(), channels)
    was = np.ones((2 * NEAR + 1) ** 2 * channels, bool)
    return np.where(np.concatenate([near, was, np.zeros(rows + columns, bool)]), 1.0, FAR)


def _window(
    row: Float[Array, "*shape rows"], column: Float[Array, "*shape columns"],
    cells: Float[Array, "*shape rows columns channels"], reach: int,
) -> Float[Array, "*shape window"]:  # fmt: skip
    seen = jnp.einsum("...di,...ijc,...ej->...dec", _shifts(row, reach), cells, _shifts(column, reach))
    return seen.reshape(*seen.shape[:-3], -1)


def _shifts(place: Float[Array, "*shape n"], reach: int) -> Float[Array, "*shape window n"]:
    """The matrix that moves `place` to the middle of a window: place[i - d] in row d from -reach to reach."""
    n = place.shape[-1]
    wide = jnp.pad(place, (*[(0, 0)] * (place.ndim - 1), (reach, reach)))
    return jnp.stack([wide[..., reach - d : reach - d + n] for d in range(-reach, reach + 1)], axis=-2)

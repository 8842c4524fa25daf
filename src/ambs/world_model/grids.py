"""Grids of zeros and ones: what is next to what, learned once for all places, then dense layers.

Who touches whom decides what a game on a grid pays and costs. A convolution that sees the 3×3 cells around each cell
recognises it anywhere after having seen it somewhere; dense layers alone have to see it everywhere.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.layers import Dense

CHANNELS = 16


class GridEncoder(eqx.Module):
    """[rows, columns, channels] → [features]."""

    around: Dense
    layers: list[Dense]
    features: int = eqx.field(static=True)

    def __init__(self, shape: tuple[int, int, int], *, units: int, layers: int, key: PRNGKeyArray) -> None:
        rows, columns, channels = shape
        first, *keys = jax.random.split(key, layers + 1)
        self.around = Dense(9 * channels, CHANNELS, key=first)
        widths = [rows * columns * CHANNELS, *[units] * layers]
        self.layers = [Dense(a, b, key=k) for a, b, k in zip(widths, widths[1:], keys, strict=False)]
        self.features = widths[-1]

    def __call__(self, grid: Float[Array, "*shape rows columns channels"]) -> Float[Array, "*shape features"]:
        x = self.around(neighbours(grid))
        x = x.reshape(*x.shape[:-3], -1)
        for layer in self.layers:
            x = layer(x)
        return x


def neighbours(grid: Float[Array, "*shape rows columns channels"]) -> Float[Array, "*shape rows columns nine_channels"]:
    """Of each cell the 3×3 around it, row by row, with zeros around the grid."""
    rows, columns = grid.shape[-3:-1]
    wide = jnp.pad(grid, (*[(0, 0)] * (grid.ndim - 3), (1, 1), (1, 1), (0, 0)))
    seen = [wide[..., i : i + rows, j : j + columns, :] for i in range(3) for j in range(3)]
    return jnp.concatenate(seen, axis=-1)

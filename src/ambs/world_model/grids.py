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


@jax.custom_vjp
def mix(
    grid: Float[Array, "*shape rows columns channels"], weight: Float[Array, "nine_channels outputs"]
) -> Float[Array, "*shape rows columns outputs"]:
    """`neighbours(grid) @ weight` as a convolution: nine times the grid, written out, takes longer than the product.

    The gradient of the weights is a product again, since a CPU is slow at that of a convolution.
    """
    kernel = weight.astype(grid.dtype).reshape(3, 3, grid.shape[-1], -1)
    return _convolve(grid, kernel)


def _forward(grid: Array, weight: Array) -> tuple[Array, tuple[Array, Array]]:
    return mix(grid, weight), (grid, weight)


def _backward(kept: tuple[Array, Array], gradient: Array) -> tuple[Array, Array]:
    grid, weight = kept
    kernel = weight.astype(grid.dtype).reshape(3, 3, grid.shape[-1], -1)
    back = _convolve(gradient, jnp.swapaxes(kernel[::-1, ::-1], 2, 3))
    seen = neighbours(grid).reshape(-1, weight.shape[0])
    return back, (seen.T @ gradient.reshape(-1, weight.shape[1])).astype(weight.dtype)


mix.defvjp(_forward, _backward)


def _convolve(
    grid: Float[Array, "*shape rows columns channels"], kernel: Float[Array, "3 3 channels outputs"]
) -> Float[Array, "*shape rows columns outputs"]:
    flat = grid.reshape(-1, *grid.shape[-3:])
    out = jax.lax.conv_general_dilated(flat, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return out.reshape(*grid.shape[:-1], -1)

"""Images by convolutions, as DreamerV3 has them: each halves the sides and doubles the channels, and the way back.

A convolution is a matrix product over the pixels of the kernel, gathered into the channels of one cell; the decoder's
is its transpose, which adds up what the cells say of a pixel. Written so, both are slices and one product, forward and
backward; the transposed convolutions that XLA has for a CPU take several times as long, and longer still in a loop.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.layers import Dense, Linear, Norm

KERNEL = 4
MOST_CELLS = 6


def halvings(rows: int, columns: int) -> int:
    """How often an image is halved: until at most 6 cells are left of its longer side; 64 pixels come down to 4."""
    count = 1
    while max(rows, columns) > MOST_CELLS * 2**count:
        count += 1
    return count


class ConvEncoder(eqx.Module):
    """[rows, columns, channels] → [features]; the sides have to be such that all halvings come out even."""

    layers: list[Dense]
    features: int = eqx.field(static=True)

    def __init__(self, shape: tuple[int, int, int], depth: int, *, key: PRNGKeyArray) -> None:
        rows, columns, channels = shape
        count = halvings(rows, columns)
        widths = [channels, *(depth * 2**level for level in range(count))]
        keys = jax.random.split(key, count)
        self.layers = [Dense(KERNEL**2 * a, b, key=k) for a, b, k in zip(widths, widths[1:], keys, strict=False)]
        self.features = (rows >> count) * (columns >> count) * widths[-1]

    def __call__(self, image: Float[Array, "*shape rows columns channels"]) -> Float[Array, "*shape features"]:
        x = image.reshape(-1, *image.shape[-3:])
        for layer in self.layers:
            x = layer(gather(x))
        return x.reshape(*image.shape[:-3], self.features)


class ConvDecoder(eqx.Module):
    """[features] → [rows, columns, channels]."""

    enter: Linear
    layers: list[tuple[Linear, Norm]]
    out: Linear
    bias: Float[Array, " channels"]
    cells: tuple[int, int, int] = eqx.field(static=True)

    def __init__(self, inputs: int, shape: tuple[int, int, int], depth: int, *, key: PRNGKeyArray) -> None:
        rows, columns, channels = shape
        count = halvings(rows, columns)
        widths = [depth * 2**level for level in reversed(range(count))]
        self.cells = rows >> count, columns >> count, widths[0]
        keys = jax.random.split(key, count + 1)
        self.enter = Linear(inputs, self.cells[0] * self.cells[1] * widths[0], key=keys[0])
        self.layers = [(_doubling(a, b, key=k), Norm(b)) for a, b, k in zip(widths, widths[1:], keys[1:], strict=False)]
        self.out = _doubling(widths[-1], channels, key=keys[-1])
        self.bias = jnp.zeros(channels)

    def __call__(self, features: Float[Array, "*shape inputs"]) -> Float[Array, "*shape rows columns channels"]:
        x = self.enter(features).reshape(-1, *self.cells)
        for linear, norm in self.layers:
            x = jax.nn.silu(norm(scatter(linear(x))))
        x = scatter(self.out(x))
        x = x + jnp.broadcast_to(self.bias.astype(x.dtype), x.shape)
        return x.reshape(*features.shape[:-1], *x.shape[1:])


def gather(x: Float[Array, "batch rows columns channels"]) -> Float[Array, "batch half_rows half_columns gathered"]:
    """The 4×4 pixels that a convolution of stride 2 sees from each cell, with zeros around the image.

    In blocks of 2×2 pixels the image has a quarter of the cells, and a kernel is 2×2 neighbouring blocks: slices of
    whole rows of memory. The order is block (row, column), pixel in the block (row, column), channel.
    """
    batch, rows, columns, channels = x.shape
    x = jnp.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    x = x.reshape(batch, rows // 2 + 1, 2, columns // 2 + 1, 2, channels)
    blocks = jnp.swapaxes(x, 2, 3).reshape(batch, rows // 2 + 1, columns // 2 + 1, 4 * channels)
    seen = [blocks[:, i : i + rows // 2, j : j + columns // 2] for i in (0, 1) for j in (0, 1)]
    return jnp.concatenate(seen, axis=-1)


def scatter(
    x: Float[Array, "batch rows columns gathered"],
) -> Float[Array, "batch double_rows double_columns channels"]:
    """The transpose of `gather`: to each pixel the sum of what the cells that see it say of it."""
    batch, rows, columns, gathered = x.shape
    image = jax.ShapeDtypeStruct((batch, 2 * rows, 2 * columns, gathered // KERNEL**2), x.dtype)
    (summed,) = jax.linear_transpose(gather, image)(x)
    return summed


def _doubling(inputs: int, channels: int, *, key: PRNGKeyArray) -> Linear:
    # A pixel is a sum over 4 cells; the variance is that of a convolution with the mean of its fans.
    outputs = KERNEL**2 * channels
    scale = ((inputs + outputs) / (KERNEL**2 * (inputs + channels))) ** 0.5
    return Linear(inputs, outputs, bias=False, scale=scale, key=key)

"""Images by patches: 2×2 pixels become one cell with more channels, by a matrix product, until 4×4 cells are left.

Convolutions without overlap. On a CPU they run at the rate of the matrix product, several times faster than real ones
(DreamerV3's, in `convolutions.py`); they are what the small sizes use.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.errors import AmbsError
from ambs.world_model.layers import Dense, Linear

LEAST = 4


def levels(size: int) -> int:
    """How often the side can be halved until it is 4."""
    count = 0
    while size > LEAST and size % 2 == 0:
        size, count = size // 2, count + 1
    if size != LEAST or count == 0:
        raise AmbsError(
            f"an image network needs sides of 8, 16, 32 or 64 pixels, and these images come down to {size}; resize "
            "them to 64×64 or 16×16, or encode them as vectors."
        )
    return count


class PatchEncoder(eqx.Module):
    """[side, side, channels] → [features]; channels double at each halving."""

    layers: list[Dense]
    features: int = eqx.field(static=True)

    def __init__(self, side: int, channels: int, depth: int, *, key: PRNGKeyArray) -> None:
        count = levels(side)
        widths = [channels, *(depth * 2**level for level in range(count))]
        keys = jax.random.split(key, count)
        self.layers = [Dense(4 * a, b, key=k) for a, b, k in zip(widths, widths[1:], keys, strict=False)]
        self.features = LEAST * LEAST * widths[-1]

    def __call__(self, image: Float[Array, "*shape side side channels"]) -> Float[Array, "*shape features"]:
        for layer in self.layers:
            image = layer(_gather_patches(image))
        return image.reshape(*image.shape[:-3], self.features)


class PatchDecoder(eqx.Module):
    """[features] → [side, side, channels], the way back."""

    enter: Linear
    layers: list[Dense]
    out: Linear
    width: int = eqx.field(static=True)

    def __init__(self, inputs: int, side: int, channels: int, depth: int, *, key: PRNGKeyArray) -> None:
        count = levels(side)
        widths = [depth * 2**level for level in reversed(range(count))]
        self.width = widths[0]
        keys = jax.random.split(key, count + 1)
        self.enter = Linear(inputs, LEAST * LEAST * self.width, key=keys[0])
        self.layers = [Dense(a, 4 * b, key=k) for a, b, k in zip(widths, widths[1:], keys[1:], strict=False)]
        self.out = Linear(widths[-1], 4 * channels, key=keys[-1])

    def __call__(self, x: Float[Array, "*shape inputs"]) -> Float[Array, "*shape side side channels"]:
        x = self.enter(x)
        x = x.reshape(*x.shape[:-1], LEAST, LEAST, self.width)
        for layer in self.layers:
            x = _scatter_patches(layer(x))
        return _scatter_patches(self.out(x))


def _gather_patches(x: Float[Array, "*shape rows columns channels"]) -> Float[Array, "..."]:
    *shape, rows, columns, channels = x.shape
    x = x.reshape(*shape, rows // 2, 2, columns // 2, 2, channels)
    return jnp.moveaxis(x, -4, -3).reshape(*shape, rows // 2, columns // 2, 4 * channels)


def _scatter_patches(x: Float[Array, "*shape rows columns channels"]) -> Float[Array, "..."]:
    *shape, rows, columns, channels = x.shape
    x = x.reshape(*shape, rows, columns, 2, 2, channels // 4)
    return jnp.moveaxis(x, -3, -4).reshape(*shape, 2 * rows, 2 * columns, channels // 4)

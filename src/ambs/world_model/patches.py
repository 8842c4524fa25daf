"""Images by patches: squares of pixels become one cell with more channels, by a matrix product, until few are left.

Convolutions without overlap. On a CPU they run near the rate of the matrix product, several times faster than real
ones (DreamerV3's, in `convolutions.py`); they are what the small sizes use.

Large images begin with squares of 4×4 pixels, since a first layer of 2×2 would have four times as many cells, each too
small for a product worth the name.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.layers import Dense, Linear

LEAST = 4
# From this side on, the first patches are 4×4.
_LARGE = 32


def _steps(side: int, depth: int) -> list[tuple[int, int]]:
    """(side of the patches, channels that come of them), layer by layer; sides are 8, 16, 32, ..."""
    halvings = (side // LEAST).bit_length() - 1
    steps = [(2, depth * 2**level) for level in range(halvings)]
    return [(4, steps[1][1]), *steps[2:]] if side >= _LARGE else steps


class PatchEncoder(eqx.Module):
    """[side, side, channels] → [features]; channels double at each halving."""

    layers: list[Dense]
    patches: tuple[int, ...] = eqx.field(static=True)
    features: int = eqx.field(static=True)

    def __init__(self, side: int, channels: int, depth: int, *, key: PRNGKeyArray) -> None:
        steps = _steps(side, depth)
        self.patches = tuple(patch for patch, _ in steps)
        self.layers = []
        for (patch, width), k in zip(steps, jax.random.split(key, len(steps)), strict=True):
            self.layers.append(Dense(patch * patch * channels, width, key=k))
            channels = width
        self.features = LEAST * LEAST * channels

    def __call__(self, image: Float[Array, "*shape side side channels"]) -> Float[Array, "*shape features"]:
        for patch, layer in zip(self.patches, self.layers, strict=True):
            image = layer(_gather_patches(image, patch))
        return image.reshape(*image.shape[:-3], self.features)


class PatchDecoder(eqx.Module):
    """[features] → [side, side, channels], the way back."""

    enter: Linear
    layers: list[Dense]
    out: Linear
    # What is the same in all pictures, a place each: the layers are the same for all places, and learn that slowly.
    always: Float[Array, "side side channels"]
    patches: tuple[int, ...] = eqx.field(static=True)
    width: int = eqx.field(static=True)

    def __init__(self, inputs: int, side: int, channels: int, depth: int, *, key: PRNGKeyArray) -> None:
        steps = _steps(side, depth)[::-1]
        self.patches = tuple(patch for patch, _ in steps)
        widths = [width for _, width in steps]
        self.width = widths[0]
        keys = jax.random.split(key, len(steps) + 1)
        self.enter = Linear(inputs, LEAST * LEAST * self.width, key=keys[0])
        self.layers = [
            Dense(a, patch * patch * b, key=k)
            for patch, a, b, k in zip(self.patches, widths, widths[1:], keys[1:], strict=False)
        ]
        self.out = Linear(widths[-1], self.patches[-1] ** 2 * channels, key=keys[-1])
        self.always = jnp.zeros((side, side, channels))

    def __call__(self, x: Float[Array, "*shape inputs"]) -> Float[Array, "*shape side side channels"]:
        x = self.enter(x)
        x = x.reshape(*x.shape[:-1], LEAST, LEAST, self.width)
        for patch, layer in zip(self.patches, self.layers, strict=False):
            x = _scatter_patches(layer(x), patch)
        image = _scatter_patches(self.out(x), self.patches[-1])
        return image + jnp.broadcast_to(self.always.astype(image.dtype), image.shape)


def _gather_patches(x: Float[Array, "*shape rows columns channels"], patch: int) -> Float[Array, "..."]:
    *shape, rows, columns, channels = x.shape
    x = x.reshape(*shape, rows // patch, patch, columns // patch, patch, channels)
    return jnp.moveaxis(x, -4, -3).reshape(*shape, rows // patch, columns // patch, patch * patch * channels)


def _scatter_patches(x: Float[Array, "*shape rows columns channels"], patch: int) -> Float[Array, "..."]:
    *shape, rows, columns, channels = x.shape
    x = x.reshape(*shape, rows, columns, patch, patch, channels // patch**2)
    return jnp.moveaxis(x, -3, -4).reshape(*shape, patch * rows, patch * columns, channels // patch**2)

"""From a stack of frames to features; which network, the observation decides.

    images with sides of 36 pixels or more   the three convolutions of Mnih et al. (2015)
    smaller images, and grids                the 3×3 cells around each cell, then a dense layer
    anything else                            two dense layers

For one example; batches by `jax.vmap`.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.grids import neighbours
from ambs.world_model.layers import Linear
from ambs.world_model.parts import Part

# (channels, side of the kernel, stride), and the least side that is left anything of.
NATURE = ((32, 8, 4), (64, 4, 2), (64, 3, 1))
NATURE_SIDE = 36
CELL_CHANNELS = 16


class Convolutions(eqx.Module):
    """[rows, columns, channels] → [features], without padding."""

    kernels: list[Float[Array, "side side inputs outputs"]]
    biases: list[Float[Array, " outputs"]]
    features: int = eqx.field(static=True)

    def __init__(self, shape: tuple[int, int, int], *, key: PRNGKeyArray) -> None:
        rows, columns, inputs = shape
        self.kernels, self.biases = [], []
        for (outputs, side, stride), each in zip(NATURE, jax.random.split(key, len(NATURE)), strict=True):
            reach = (side * side * inputs) ** -0.5
            self.kernels.append(
                jax.random.uniform(each, (side, side, inputs, outputs), minval=-reach, maxval=reach) * 3**0.5
            )
            self.biases.append(jnp.zeros(outputs))
            rows, columns, inputs = (rows - side) // stride + 1, (columns - side) // stride + 1, outputs
        self.features = rows * columns * inputs

    def __call__(self, image: Float[Array, "rows columns channels"]) -> Float[Array, " features"]:
        x = image[None]
        for kernel, bias, (_, _, stride) in zip(self.kernels, self.biases, NATURE, strict=True):
            x = jax.lax.conv_general_dilated(
                x, kernel, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + bias.reshape(1, 1, 1, -1))
        return x.reshape(-1)


class Cells(eqx.Module):
    """[rows, columns, channels] → [features]: what is next to what, learned once for all places."""

    around: Linear
    dense: Linear
    features: int = eqx.field(static=True)

    def __init__(self, shape: tuple[int, int, int], units: int, *, key: PRNGKeyArray) -> None:
        rows, columns, channels = shape
        first, second = jax.random.split(key)
        self.around = Linear(9 * channels, CELL_CHANNELS, key=first)
        self.dense = Linear(rows * columns * CELL_CHANNELS, units, key=second)
        self.features = units

    def __call__(self, grid: Float[Array, "rows columns channels"]) -> Float[Array, " features"]:
        return jax.nn.relu(self.dense(jax.nn.relu(self.around(neighbours(grid))).reshape(-1)))


class Vectors(eqx.Module):
    """[numbers] → [features]."""

    layers: tuple[Linear, Linear]
    features: int = eqx.field(static=True)

    def __init__(self, size: int, units: int, *, key: PRNGKeyArray) -> None:
        first, second = jax.random.split(key)
        self.layers = (Linear(size, units, key=first), Linear(units, units, key=second))
        self.features = units

    def __call__(self, numbers: Float[Array, " size"]) -> Float[Array, " features"]:
        for layer in self.layers:
            numbers = jax.nn.relu(layer(numbers))
        return numbers


class Torso(eqx.Module):
    """[stack, *observation] as the environment gives it → [features]."""

    net: Convolutions | Cells | Vectors
    part: Part = eqx.field(static=True)

    def __init__(self, part: Part, stack: int, units: int, *, key: PRNGKeyArray) -> None:
        self.part = part
        if part.kind not in ("image", "grid"):
            self.net = Vectors(stack * part.size, units, key=key)
            return
        rows, columns, channels = part.image
        shape = (rows, columns, stack * channels)
        large = part.kind == "image" and min(rows, columns) >= NATURE_SIDE
        self.net = Convolutions(shape, key=key) if large else Cells(shape, units, key=key)

    @property
    def features(self) -> int:
        return self.net.features

    def __call__(self, frames: Array) -> Float[Array, " features"]:
        seen = self.part.prepare(frames)
        if isinstance(self.net, Vectors):
            return self.net(seen.reshape(-1))
        # Frames are channels; which is first among them is the same for all.
        stacked = jnp.moveaxis(seen, 0, -2)
        return self.net(stacked.reshape(*stacked.shape[:2], -1))

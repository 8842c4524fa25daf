"""Encoder and decoder: observations to an embedding, and the model's state back to observations.

Image networks halve the sides until few cells are left. Images for which that does not come out even are padded with
zeros, below and to the right; what the decoder says of the padding is cut off, so that no loss ever counts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.chunks import in_chunks
from ambs.world_model.convolutions import ConvDecoder, ConvEncoder, halvings
from ambs.world_model.grids import GridEncoder
from ambs.world_model.layers import MLP, Dense
from ambs.world_model.parts import Part
from ambs.world_model.patches import PatchDecoder, PatchEncoder


class Encoder(eqx.Module):
    """A network a picture and a grid, one stack of dense layers for everything else, side by side."""

    images: dict[str, PatchEncoder | ConvEncoder]
    grids: dict[str, GridEncoder]
    dense: list[Dense]
    # In this order and no other: a dictionary that passes through `jit` comes back sorted.
    pictures: tuple[Part, ...] = eqx.field(static=True)
    padded: tuple[tuple[int, int, int], ...] = eqx.field(static=True)
    boards: tuple[str, ...] = eqx.field(static=True)
    flat: tuple[str, ...] = eqx.field(static=True)
    embedding: int = eqx.field(static=True)

    def __init__(
        self,
        parts: Sequence[Part],
        *,
        images: str = "patches",
        depth: int,
        units: int,
        layers: int,
        key: PRNGKeyArray,
    ) -> None:
        self.pictures = tuple(part for part in parts if part.kind == "image")
        self.padded = tuple(pad(part.image, images) for part in self.pictures)
        grids = [part for part in parts if part.kind == "grid"]
        others = [part for part in parts if part.kind not in ("image", "grid")]
        keys = iter(jax.random.split(key, len(self.pictures) + len(grids) + layers))
        self.images = {
            part.key: _image_encoder(images, shape, depth, key=next(keys))
            for part, shape in zip(self.pictures, self.padded, strict=True)
        }
        self.grids = {part.key: GridEncoder(part.image, units=units, layers=layers, key=next(keys)) for part in grids}
        self.boards = tuple(part.key for part in grids)
        self.flat = tuple(part.key for part in others)
        widths = [sum(part.size for part in others), *[units] * layers] if others else []
        self.dense = [Dense(a, b, key=next(keys)) for a, b in pairwise(widths)]
        nets = [*self.images.values(), *self.grids.values()]
        self.embedding = sum(net.features for net in nets) + (units if others else 0)

    def __call__(self, seen: Mapping[str, Float[Array, "..."]]) -> Float[Array, "*shape embedding"]:
        """`seen` as `Part.prepare` gives it."""
        out = [
            self._picture(seen[part.key], self.images[part.key], shape)
            for part, shape in zip(self.pictures, self.padded, strict=True)
        ]
        out += [self.grids[key](seen[key]) for key in self.boards]
        if self.flat:
            x = jnp.concatenate([seen[key] for key in self.flat], axis=-1)
            for layer in self.dense:
                x = layer(x)
            out.append(x)
        return jnp.concatenate(out, axis=-1)

    def _picture(
        self,
        images: Float[Array, "*shape rows columns channels"],
        net: PatchEncoder | ConvEncoder,
        padded: tuple[int, int, int],
    ) -> Float[Array, "*shape features"]:
        shape = images.shape[:-3]
        flat = images.reshape(-1, *images.shape[-3:])
        return in_chunks(lambda few: net(_with_margin(few, padded)), flat).reshape(*shape, net.features)


class Decoder(eqx.Module):
    """From the features of a state to each part: pixel values, logits of zeros and ones, symlog values of vectors."""

    images: dict[str, PatchDecoder | ConvDecoder]
    others: dict[str, MLP]
    parts: tuple[Part, ...] = eqx.field(static=True)

    def __init__(
        self,
        features: int,
        parts: Sequence[Part],
        *,
        images: str = "patches",
        depth: int,
        units: int,
        layers: int,
        key: PRNGKeyArray,
    ) -> None:
        self.parts = tuple(parts)
        keys = dict(zip((part.key for part in parts), jax.random.split(key, len(parts)), strict=True))
        self.images = {
            part.key: _image_decoder(images, features, pad(part.image, images), depth, key=keys[part.key])
            for part in parts
            if part.kind == "image"
        }
        self.others = {
            part.key: MLP(features, _extent(part), units=units, layers=layers, key=keys[part.key])
            for part in parts
            if part.kind != "image"
        }

    def __call__(self, features: Float[Array, "*shape features"]) -> dict[str, Float[Array, "..."]]:
        return {part.key: self._guess(part, features) for part in self.parts}

    def loss(
        self, features: Float[Array, "*shape features"], seen: Mapping[str, Float[Array, "..."]], pictures: float = 1.0
    ) -> Float[Array, "*shape"]:
        """-ln p(x | s) up to constants, summed over the pixels and numbers of all parts; pictures weigh as told."""
        shape = features.shape[:-1]
        flat = features.reshape(-1, features.shape[-1])
        total = jnp.zeros(len(flat))
        for part in self.parts:
            target = seen[part.key]
            target = target.reshape(-1, *target.shape[len(shape) :])
            loss = partial(self._loss, part)
            total = total + (pictures * in_chunks(loss, flat, target) if part.kind == "image" else loss(flat, target))
        return total.reshape(shape)

    def _guess(self, part: Part, features: Float[Array, "*shape features"]) -> Float[Array, "..."]:
        if part.kind != "image":
            return self.others[part.key](features)
        rows, columns, _ = part.image
        return self.images[part.key](features)[..., :rows, :columns, :]

    def _loss(
        self, part: Part, features: Float[Array, "rows features"], target: Float[Array, "rows ..."]
    ) -> Float[Array, " rows"]:
        guess = self._guess(part, features).astype(jnp.float32)
        if part.kind == "image":
            # DreamerV3 centres pictures on a half, so that nothing is the mean grey.
            each = (guess + 0.5 - target) ** 2 * weight_of(part)
        elif part.kind in ("grid", "binary"):
            each = jax.nn.softplus(guess) - guess * target
        else:
            each = (guess - target) ** 2
        return each.sum(axis=tuple(range(1, each.ndim)))


def _extent(part: Part) -> tuple[int, ...]:
    return part.image if part.kind == "grid" else (part.size,)


def weight_of(part: Part) -> float:
    """How much a pixel counts: 1 in pictures of 64×64 and more; in smaller ones more, for each shows a larger part of
    what there is, and their sum would weigh next to nothing beside the other losses."""
    rows, columns, _ = part.image
    return max(1.0, 64 * 64 / (rows * columns))


def pad(shape: tuple[int, int, int], images: str) -> tuple[int, int, int]:
    """The least shape around an image that its network can halve as often as it wants to."""
    rows, columns, channels = shape
    if images == "patches":
        side = 8
        while side < max(rows, columns):
            side *= 2
        return side, side, channels
    step = 2 ** halvings(rows, columns)
    return -(-rows // step) * step, -(-columns // step) * step, channels


def _with_margin(
    image: Float[Array, "*shape rows columns channels"], padded: tuple[int, int, int]
) -> Float[Array, "*shape padded_rows padded_columns channels"]:
    below, right = padded[0] - image.shape[-3], padded[1] - image.shape[-2]
    return jnp.pad(image, (*[(0, 0)] * (image.ndim - 3), (0, below), (0, right), (0, 0)))


def _image_encoder(
    images: str, shape: tuple[int, int, int], depth: int, *, key: PRNGKeyArray
) -> PatchEncoder | ConvEncoder:
    if images == "patches":
        return PatchEncoder(shape[0], shape[2], depth, key=key)
    return ConvEncoder(shape, depth, key=key)


def _image_decoder(
    images: str, inputs: int, shape: tuple[int, int, int], depth: int, *, key: PRNGKeyArray
) -> PatchDecoder | ConvDecoder:
    if images == "patches":
        return PatchDecoder(inputs, shape[0], shape[2], depth, key=key)
    return ConvDecoder(inputs, shape, depth, key=key)

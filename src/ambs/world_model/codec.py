"""Encoder and decoder: observations to an embedding, and the model's state back to observations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.layers import MLP, Dense
from ambs.world_model.parts import Part
from ambs.world_model.patches import PatchDecoder, PatchEncoder


class Encoder(eqx.Module):
    """An image network a picture, one stack of dense layers for everything else, side by side."""

    images: dict[str, PatchEncoder]
    dense: list[Dense]
    flat: tuple[str, ...] = eqx.field(static=True)
    embedding: int = eqx.field(static=True)

    def __init__(self, parts: Sequence[Part], *, depth: int, units: int, layers: int, key: PRNGKeyArray) -> None:
        pictures = [part for part in parts if part.kind == "image"]
        others = [part for part in parts if part.kind != "image"]
        keys = jax.random.split(key, len(pictures) + layers)
        self.images = {
            part.key: PatchEncoder(part.shape[0], part.shape[2], depth, key=k)
            for part, k in zip(pictures, keys, strict=False)
        }
        self.flat = tuple(part.key for part in others)
        widths = [sum(part.size for part in others), *[units] * layers] if others else []
        self.dense = [Dense(a, b, key=k) for a, b, k in zip(widths, widths[1:], keys[len(pictures) :], strict=False)]
        self.embedding = sum(net.features for net in self.images.values()) + (units if others else 0)

    def __call__(self, seen: Mapping[str, Float[Array, "..."]]) -> Float[Array, "*shape embedding"]:
        """`seen` as `Part.prepare` gives it."""
        out = [net(seen[key]) for key, net in self.images.items()]
        if self.flat:
            x = jnp.concatenate([seen[key] for key in self.flat], axis=-1)
            for layer in self.dense:
                x = layer(x)
            out.append(x)
        return jnp.concatenate(out, axis=-1)


class Decoder(eqx.Module):
    """From the features of a state to each part: pixel values, logits of binary parts, symlog values of vectors."""

    images: dict[str, PatchDecoder]
    others: dict[str, MLP]
    parts: tuple[Part, ...] = eqx.field(static=True)

    def __init__(
        self, features: int, parts: Sequence[Part], *, depth: int, units: int, layers: int, key: PRNGKeyArray
    ) -> None:
        self.parts = tuple(parts)
        keys = dict(zip((part.key for part in parts), jax.random.split(key, len(parts)), strict=True))
        self.images = {
            part.key: PatchDecoder(features, part.shape[0], part.shape[2], depth, key=keys[part.key])
            for part in parts
            if part.kind == "image"
        }
        self.others = {
            part.key: MLP(features, (part.size,), units=units, layers=layers, key=keys[part.key])
            for part in parts
            if part.kind != "image"
        }

    def __call__(self, features: Float[Array, "*shape features"]) -> dict[str, Float[Array, "..."]]:
        return {
            part.key: self.images[part.key](features) if part.kind == "image" else self.others[part.key](features)
            for part in self.parts
        }

    def loss(
        self, features: Float[Array, "*shape features"], seen: Mapping[str, Float[Array, "..."]]
    ) -> Float[Array, "*shape"]:
        """-ln p(x | s) up to constants, summed over the pixels and numbers of all parts."""
        total = jnp.zeros(features.shape[:-1])
        for part, (_, guess) in zip(self.parts, self(features).items(), strict=True):
            guess = guess.astype(jnp.float32)
            axes = tuple(range(features.ndim - 1, guess.ndim))
            if part.kind == "binary":
                each = jax.nn.softplus(guess) - guess * seen[part.key]
            else:
                # DreamerV3 centres pictures on a half, so that nothing is the mean grey.
                centre = 0.5 if part.kind == "image" else 0.0
                each = (guess + centre - seen[part.key]) ** 2
            total = total + each.sum(axis=axes)
        return total

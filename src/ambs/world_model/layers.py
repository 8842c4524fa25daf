"""Dense layers: linear, then LayerNorm, then SiLU."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.sparse import Sparse


class Linear(eqx.Module):
    """x W + b, from a truncated normal with variance 1 / mean fan; scale 0 for heads that start neutral."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"] | None

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, scale: float = 1.0, key: PRNGKeyArray) -> None:
        # A normal cut off at two deviations has a deviation of 0.8796.
        deviation = scale * (2 / (inputs + outputs)) ** 0.5 / 0.87962566103423978
        self.weight = deviation * jax.random.truncated_normal(key, -2.0, 2.0, (inputs, outputs))
        self.bias = jnp.zeros(outputs) if bias else None

    def __call__(self, x: Float[Array, "*shape inputs"] | Sparse) -> Float[Array, "*shape outputs"]:
        y = x @ self.weight.astype(x.dtype)
        return y if self.bias is None else y + _along(y, self.bias.astype(y.dtype))


class Norm(eqx.Module):
    """LayerNorm over the last axis, computed in float32 whatever comes in."""

    scale: Float[Array, " features"]
    offset: Float[Array, " features"]

    def __init__(self, features: int) -> None:
        self.scale, self.offset = jnp.ones(features), jnp.zeros(features)

    def __call__(self, x: Float[Array, "*shape features"]) -> Float[Array, "*shape features"]:
        wide = x.astype(jnp.float32)
        centred = wide - wide.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        normal = centred * jax.lax.rsqrt(variance + 1e-3)
        return (normal * _along(x, self.scale) + _along(x, self.offset)).astype(x.dtype)


class Dense(eqx.Module):
    """Linear, LayerNorm, SiLU; the norm makes a bias idle."""

    linear: Linear
    norm: Norm

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray) -> None:
        self.linear = Linear(inputs, outputs, bias=False, key=key)
        self.norm = Norm(outputs)

    def __call__(self, x: Float[Array, "*shape inputs"] | Sparse) -> Float[Array, "*shape outputs"]:
        return jax.nn.silu(self.norm(self.linear(x)))


class MLP(eqx.Module):
    """Dense layers and a linear output of the shape asked for, in float32 whatever comes in."""

    layers: list[Dense]
    out: Linear
    shape: tuple[int, ...] = eqx.field(static=True)

    def __init__(
        self,
        inputs: int,
        shape: Sequence[int],
        *,
        units: int,
        layers: int,
        scale: float = 1.0,
        key: PRNGKeyArray,
    ) -> None:
        keys = jax.random.split(key, layers + 1)
        widths = [inputs, *[units] * layers]
        self.layers = [Dense(a, b, key=k) for a, b, k in zip(widths, widths[1:], keys[:-1], strict=False)]
        self.shape = tuple(shape)
        size = 1
        for extent in self.shape:
            size *= extent
        self.out = Linear(widths[-1], size, scale=scale, key=keys[-1])

    def __call__(self, x: Float[Array, "*batch inputs"] | Sparse) -> Float[Array, "..."]:
        for layer in self.layers:
            x = layer(x)
        y = self.out(x).astype(jnp.float32)
        return y.reshape(*y.shape[:-1], *self.shape)


def _along(x: Float[Array, "*shape features"], vector: Float[Array, " features"]) -> Float[Array, "*ones features"]:
    """The vector with as many axes as `x`: what is broadcast is always said, and a test makes sure of it."""
    return vector.reshape(*[1] * (x.ndim - 1), -1)

"""Noisy linear layers: exploration by noise on the weights, whose size is learned (Fortunato et al., 2018)."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.layers import Linear


class NoisyLinear(eqx.Module):
    """x (W + σ_W ⊙ f(ε_in) f(ε_out)ᵀ) + b + σ_b ⊙ f(ε_out), with f(x) = sign(x) √|x| and ε normal.

    Factorised: one number an input and one an output, rather than one a weight.
    """

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]
    weight_noise: Float[Array, "inputs outputs"]
    bias_noise: Float[Array, " outputs"]

    def __init__(self, inputs: int, outputs: int, *, noise: float, key: PRNGKeyArray) -> None:
        """`noise` is σ₀: every σ begins as σ₀ / √inputs."""
        reach = 1 / math.sqrt(inputs)
        first, second = jax.random.split(key)
        self.weight = jax.random.uniform(first, (inputs, outputs), minval=-reach, maxval=reach)
        self.bias = jax.random.uniform(second, (outputs,), minval=-reach, maxval=reach)
        self.weight_noise = jnp.full((inputs, outputs), noise * reach)
        self.bias_noise = jnp.full((outputs,), noise * reach)

    @property
    def draws(self) -> int:
        """How many numbers its noise is made of."""
        return sum(self.weight.shape)

    def __call__(self, x: Float[Array, " inputs"], noise: Float[Array, " draws"] | None) -> Float[Array, " outputs"]:
        """With the normal numbers ε_in and ε_out, one after the other; without noise, if there are none.

        Noise that is the same for a batch makes noisy weights once.
        """
        if noise is None:
            return x @ self.weight + self.bias
        scaled = jnp.sign(noise) * jnp.sqrt(jnp.abs(noise))
        into, out = scaled[: len(self.weight)], scaled[len(self.weight) :]
        weight = self.weight + self.weight_noise * jnp.outer(into, out)
        return x @ weight + self.bias + self.bias_noise * out


class QuietLinear(eqx.Module):
    """A linear layer in the place of a noisy one."""

    linear: Linear

    def __init__(self, inputs: int, outputs: int, *, key: PRNGKeyArray) -> None:
        self.linear = Linear(inputs, outputs, key=key)

    @property
    def draws(self) -> int:
        return 0

    def __call__(self, x: Float[Array, " inputs"], noise: Float[Array, " draws"] | None) -> Float[Array, " outputs"]:
        return self.linear(x)

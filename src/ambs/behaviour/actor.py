"""Actors: a policy over the features of the model's states, for choices and for continuous actions."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.world_model.layers import MLP
from ambs.world_model.model import WorldState
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse

UNIMIX = 0.01
# Standard deviations of continuous actions lie between these.
_DEVIATIONS = (0.1, 1.0)


class Choice(eqx.Module):
    """A distribution over discrete actions, 1 % of it uniform; actions are one-hot."""

    logits: Float[Array, "*shape actions"]

    @property
    def probs(self) -> Float[Array, "*shape actions"]:
        return (1 - UNIMIX) * jax.nn.softmax(self.logits) + UNIMIX / self.logits.shape[-1]

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, "*shape actions"]:
        probs = self.probs
        drawn = jax.random.uniform(key, (*probs.shape[:-1], 1))
        index = jnp.sum(drawn >= jnp.cumsum(probs, axis=-1), axis=-1).clip(0, probs.shape[-1] - 1)
        return jax.nn.one_hot(index, probs.shape[-1])

    def mode(self) -> Float[Array, "*shape actions"]:
        return jax.nn.one_hot(jnp.argmax(self.logits, axis=-1), self.logits.shape[-1])

    def log_prob(self, action: Float[Array, "*shape actions"]) -> Float[Array, "*shape"]:
        return jnp.sum(action * jnp.log(self.probs), axis=-1)

    def entropy(self) -> Float[Array, "*shape"]:
        probs = self.probs
        return -jnp.sum(probs * jnp.log(probs), axis=-1)


class Continuous(eqx.Module):
    """Independent normals with means in (-1, 1); actions are sampled with a gradient."""

    mean: Float[Array, "*shape actions"]
    deviation: Float[Array, "*shape actions"]

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, "*shape actions"]:
        return self.mean + self.deviation * jax.random.normal(key, self.mean.shape)

    def mode(self) -> Float[Array, "*shape actions"]:
        return self.mean

    def log_prob(self, action: Float[Array, "*shape actions"]) -> Float[Array, "*shape"]:
        z = (action - self.mean) / self.deviation
        return jnp.sum(-0.5 * z**2 - jnp.log(self.deviation) - 0.5 * math.log(2 * math.pi), axis=-1)

    def entropy(self) -> Float[Array, "*shape"]:
        return jnp.sum(jnp.log(self.deviation) + 0.5 * math.log(2 * math.pi * math.e), axis=-1)


class Actor(eqx.Module):
    """π(a | s): the contract of a policy, on the model's states."""

    net: MLP
    discrete: bool = eqx.field(static=True)

    def __init__(self, features: int, actions: int, size: Size, *, discrete: bool, key: PRNGKeyArray) -> None:
        shape = (actions,) if discrete else (2, actions)
        self.net = MLP(features, shape, units=size.units, layers=size.layers, scale=0.01, key=key)
        self.discrete = discrete

    def __call__(self, features: Float[Array, "*shape features"] | Sparse) -> Choice | Continuous:
        out = self.net(features)
        if self.discrete:
            return Choice(out)
        low, high = _DEVIATIONS
        return Continuous(jnp.tanh(out[..., 0, :]), low + (high - low) * jax.nn.sigmoid(out[..., 1, :] + 2))

    @property
    def actions(self) -> int:
        """How many there are, or how many numbers one has."""
        return self.net.shape[-1]

    def sample(self, state: WorldState, *, key: PRNGKeyArray) -> Float[Array, "*shape actions"]:
        # An action learns by what it leads to, not by how the state that it is chosen in came about.
        return self(jax.lax.stop_gradient(state.features)).sample(key=key)


class Likeliest(eqx.Module):
    """An actor that plays what it finds best. It may have learned with much chance, so as not to be sure too early."""

    actor: Actor

    def sample(self, state: WorldState, *, key: PRNGKeyArray) -> Float[Array, "*shape actions"]:
        return self.actor(jax.lax.stop_gradient(state.features)).mode()

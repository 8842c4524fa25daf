"""The two networks: Rainbow's, with one distribution an action, and IQN's, with as many quantiles as are asked for.

For one example; batches by `jax.vmap`.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.value_agents.config import ValueConfig
from ambs.value_agents.noisy import NoisyLinear, QuietLinear
from ambs.value_agents.torso import Torso
from ambs.world_model.layers import Linear
from ambs.world_model.parts import Part


class Stream(eqx.Module):
    """[features] → [outputs], by one hidden layer; both layers are noisy, or neither."""

    hidden: NoisyLinear | QuietLinear
    out: NoisyLinear | QuietLinear

    def __init__(self, inputs: int, outputs: int, config: ValueConfig, *, key: PRNGKeyArray) -> None:
        self.hidden, self.out = (
            NoisyLinear(a, b, noise=config.noise, key=each) if config.has("noisy") else QuietLinear(a, b, key=each)
            for a, b, each in zip(
                (inputs, config.units), (config.units, outputs), jax.random.split(key), strict=True
            )
        )  # fmt: skip

    @property
    def draws(self) -> int:
        return self.hidden.draws + self.out.draws

    def __call__(
        self, features: Float[Array, " inputs"], noise: Float[Array, " draws"] | None
    ) -> Float[Array, " outputs"]:
        first, second = (None, None) if noise is None else (noise[: self.hidden.draws], noise[self.hidden.draws :])
        return self.out(jax.nn.relu(self.hidden(features, first)), second)


class RainbowNet(eqx.Module):
    """[stack, *observation] → [actions, atoms]: logits of the atoms; or with one atom, the values themselves."""

    torso: Torso
    advantage: Stream
    value: Stream | None
    actions: int = eqx.field(static=True)
    atoms: int = eqx.field(static=True)

    def __init__(self, part: Part, actions: int, config: ValueConfig, *, key: PRNGKeyArray) -> None:
        first, second, third = jax.random.split(key, 3)
        self.actions, self.atoms = actions, config.atoms if config.has("distributional") else 1
        self.torso = Torso(part, config.stack, config.units, key=first)
        self.advantage = Stream(self.torso.features, actions * self.atoms, config, key=second)
        self.value = Stream(self.torso.features, self.atoms, config, key=third) if config.has("dueling") else None

    def __call__(self, frames: Array, key: PRNGKeyArray | None) -> Float[Array, "actions atoms"]:
        """With the noise of `key`, the same for a batch that it is mapped over; without any, if there is none."""
        first = second = None
        if key is not None:
            # All at once: a layer at a time takes several times as long to compile.
            noise = jax.random.normal(key, (self.advantage.draws + (0 if self.value is None else self.value.draws),))
            first, second = noise[: self.advantage.draws], noise[self.advantage.draws :]
        features = self.torso(frames)
        advantage = self.advantage(features, first).reshape(self.actions, self.atoms)
        return advantage if self.value is None else dueling(self.value(features, second), advantage)


def dueling(value: Float[Array, " atoms"], advantage: Float[Array, "actions atoms"]) -> Float[Array, "actions atoms"]:
    """V + A - mean over actions of A: an advantage that all actions have is none."""
    return value[None] + advantage - advantage.mean(axis=0, keepdims=True)


class QuantileNet(eqx.Module):
    """[stack, *observation], [taus] → [taus, actions]: of each action's return the quantiles τ."""

    torso: Torso
    embed: Linear
    hidden: Linear
    out: Linear
    cosines: int = eqx.field(static=True)

    def __init__(self, part: Part, actions: int, config: ValueConfig, *, key: PRNGKeyArray) -> None:
        first, second, third, fourth = jax.random.split(key, 4)
        self.torso = Torso(part, config.stack, config.units, key=first)
        self.cosines = config.quantiles.embedding
        self.embed = Linear(self.cosines, self.torso.features, key=second)
        self.hidden = Linear(self.torso.features, config.units, key=third)
        self.out = Linear(config.units, actions, key=fourth)

    def __call__(self, frames: Array, taus: Float[Array, " taus"]) -> Float[Array, "taus actions"]:
        angles = jnp.pi * taus[:, None] * jnp.arange(self.cosines, dtype=jnp.float32)[None]
        told = jax.nn.relu(self.embed(jnp.cos(angles)))
        return self.out(jax.nn.relu(self.hidden(self.torso(frames)[None] * told)))


Network = RainbowNet | QuantileNet


def make(part: Part, actions: int, config: ValueConfig, *, key: PRNGKeyArray) -> Network:
    """The network of the agent."""
    return (RainbowNet if config.agent == "rainbow" else QuantileNet)(part, actions, config, key=key)

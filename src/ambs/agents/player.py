"""How an agent acts: it follows what happens with the model's state, and asks its policy for the next action."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.behaviour.actor import Actor, Choice
from ambs.errors import AmbsError
from ambs.world_model.model import WorldModel, WorldState
from ambs.world_model.rssm import without_gradient


class Memory(eqx.Module):
    """What an agent carries from step to step, one row an environment."""

    state: WorldState
    action: Float[Array, "envs actions"]


def nothing_yet(model: WorldModel, envs: int, actions: int) -> Memory:
    return Memory(model.rssm.initial((envs,)), jnp.zeros((envs, actions)))


def see(
    model: WorldModel,
    memory: Memory,
    obs: Mapping[str, Array],
    is_first: Bool[Array, " envs"],
    *,
    key: PRNGKeyArray,
    likeliest: bool = False,
) -> WorldState:
    """The state after one more observation; drawn, or the likeliest."""
    return model.observe(memory.state, memory.action, obs, is_first, key=key, likeliest=likeliest)


def propose(
    actor: Actor, state: WorldState, *, key: PRNGKeyArray, likeliest: bool = False
) -> Float[Array, "envs actions"]:
    """The policy's action; drawn, or the likeliest."""
    policy = actor(without_gradient(state).features)
    return policy.mode() if likeliest else policy.sample(key=key)


@eqx.filter_jit
def act(
    model: WorldModel,
    actor: Actor,
    memory: Memory,
    obs: Mapping[str, Array],
    is_first: Bool[Array, " envs"],
    *,
    key: PRNGKeyArray,
    likeliest: bool = False,
) -> tuple[Float[Array, "envs actions"], Memory]:
    """Sees, remembers, acts; for all environments at once. `likeliest` leaves nothing to chance: the mode of the
    posterior, and the mode of the policy."""
    look, choose = jax.random.split(key)
    state = see(model, memory, obs, is_first, key=look, likeliest=likeliest)
    action = propose(actor, state, key=choose, likeliest=likeliest)
    return action, Memory(state, action)


@eqx.filter_jit
def preferences(actor: Actor, memory: Memory) -> Float[Array, "envs actions"]:
    """How the policy ranks all actions where `act` has just acted: the logits of a choice."""
    policy = actor(without_gradient(memory.state).features)
    assert isinstance(policy, Choice)
    return policy.logits.astype(jnp.float32)


class ActionCodec:
    """Between the environment's actions and the model's: choices are one-hot, boxes are scaled to [-1, 1]."""

    def __init__(self, space: spaces.Space[Any]) -> None:
        if isinstance(space, spaces.Discrete):
            self.discrete, self.size, self._start = True, int(space.n), int(space.start)
        elif _is_continuous(space):
            self.discrete, self.size = False, int(np.prod(space.shape))
            self._low, self._high, self._shape = space.low.ravel(), space.high.ravel(), space.shape
        else:
            raise AmbsError(
                f"the actions are {space}, and have to be Discrete or a Box of floats with finite ends; make them so, "
                "e.g. with gymnasium.wrappers.TransformAction."
            )

    def decode(self, action: np.ndarray) -> np.ndarray:
        """The model's actions, a row an environment, as the environment takes them."""
        if self.discrete:
            return action.argmax(axis=-1) + self._start
        scaled = self._low + (np.clip(action, -1, 1) + 1) / 2 * (self._high - self._low)
        return scaled.reshape(len(action), *self._shape).astype(np.float32)

    def encode(self, action: Any) -> np.ndarray:
        """One action of the environment's as the model has it."""
        if self.discrete:
            return np.eye(self.size, dtype=np.float32)[int(action) - self._start]
        flat = (np.asarray(action, np.float32).ravel() - self._low) / (self._high - self._low)
        return (2 * flat - 1).astype(np.float32)

    def random(self, rng: np.random.Generator, envs: int) -> np.ndarray:
        """The model's actions, uniformly at random."""
        if self.discrete:
            return np.eye(self.size, dtype=np.float32)[rng.integers(self.size, size=envs)]
        return rng.uniform(-1, 1, (envs, self.size)).astype(np.float32)


def _is_continuous(space: spaces.Space[Any]) -> TypeGuard[spaces.Box]:
    """A Box that a policy's numbers can be scaled to; whole numbers would have to be rounded, and are choices."""
    if not isinstance(space, spaces.Box) or not np.issubdtype(space.dtype, np.floating):
        return False
    return bool(np.isfinite(space.low).all() and np.isfinite(space.high).all())

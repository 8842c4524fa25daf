"""The recurrent state-space model: what the world model remembers (h) and what it draws (z).

h_t = f(h_{t-1}, z_{t-1}, a_{t-1})        sequence model, a GRU
z_t ~ q(z_t | h_t, x_t)                   encoder: with the observation (posterior)
ẑ_t ~ p(ẑ_t | h_t)                        dynamics predictor: without (prior)
"""

from __future__ import annotations

from typing import Any, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ambs.world_model.latent import Latent
from ambs.world_model.layers import Dense, Linear, Norm
from ambs.world_model.sparse import Sparse


class State(eqx.Module):
    """The model's state: deterministic h and stochastic z, one-hot a variable."""

    h: Float[Array, "*shape recurrent"]
    z: Float[Array, "*shape variables classes"]

    @property
    def features(self) -> Float[Array, "*shape features"]:
        """What the heads, the actor and the critics see."""
        return jnp.concatenate([self.h, self.z.reshape(*self.z.shape[:-2], -1)], axis=-1)


class Drawn(eqx.Module):
    """The same state with z as the class of each variable: z has no gradient then, and products with it are sums."""

    h: Float[Array, "*shape recurrent"]
    index: Int[Array, "*shape variables"]
    classes: int = eqx.field(static=True)

    @property
    def features(self) -> Sparse:
        return Sparse(self.h, self.rows(after=self.h.shape[-1]), start=0)

    def rows(self, *, after: int) -> Int[Array, "*shape variables"]:
        """Where the ones of z stand in a vector that has it `after` so many numbers."""
        first = after + self.classes * jnp.arange(self.index.shape[-1], dtype=self.index.dtype)
        return self.index + jnp.broadcast_to(first, self.index.shape)


def without_gradient(state: Any) -> Any:
    """The state as it is quickest to imagine from where no gradient is to pass through z: by index on a CPU.

    Accelerators multiply matrices so fast that the zeros do not matter.
    """
    still = jax.lax.stop_gradient(state)
    if not isinstance(state, State) or jax.default_backend() != "cpu":
        return still
    return Drawn(still.h, jnp.argmax(still.z, axis=-1), still.z.shape[-1])


AnyState = TypeVar("AnyState", State, Drawn)


class GRU(eqx.Module):
    """A gated recurrent unit with one LayerNorm over its gates, and gates that start out remembering.

    r, c, u = norm([x, h] W);    h' = σ(u - 1) tanh(σ(r) c) + (1 - σ(u - 1)) h
    """

    from_input: Linear
    from_state: Linear
    norm: Norm

    def __init__(self, inputs: int, size: int, *, key: PRNGKeyArray) -> None:
        first, second = jax.random.split(key)
        self.from_input = Linear(inputs, 3 * size, bias=False, key=first)
        self.from_state = Linear(size, 3 * size, bias=False, key=second)
        self.norm = Norm(3 * size)

    def __call__(self, x: Float[Array, "*shape inputs"], h: Float[Array, "*shape size"]) -> Float[Array, "*shape size"]:
        gates = self.norm(self.from_input(x) + self.from_state(h))
        reset, candidate, update = jnp.split(gates, 3, axis=-1)
        candidate = jnp.tanh(jax.nn.sigmoid(reset) * candidate)
        update = jax.nn.sigmoid(update - 1)
        return update * candidate + (1 - update) * h


class RSSM(eqx.Module):
    """Sequence model, dynamics predictor and the part of the encoder that joins h with what was seen."""

    enter: Dense
    gru: GRU
    prior_hidden: Dense
    prior_out: Linear
    # [h, embedding] W as two products: that of the embedding is made for all time steps at once, outside the loop.
    posterior_state: Linear
    posterior_seen: Linear
    posterior_norm: Norm
    posterior_out: Linear
    initial_h: Float[Array, " recurrent"]
    variables: int = eqx.field(static=True)
    classes: int = eqx.field(static=True)
    dtype: str = eqx.field(static=True)

    def __init__(
        self,
        *,
        actions: int,
        embedding: int,
        recurrent: int,
        units: int,
        variables: int,
        classes: int,
        dtype: str = "float32",
        key: PRNGKeyArray,
    ) -> None:
        keys = jax.random.split(key, 7)
        drawn = variables * classes
        self.variables, self.classes, self.dtype = variables, classes, dtype
        self.enter = Dense(drawn + actions, units, key=keys[0])
        self.gru = GRU(units, recurrent, key=keys[1])
        self.prior_hidden = Dense(recurrent, units, key=keys[2])
        self.prior_out = Linear(units, drawn, key=keys[3])
        self.posterior_state = Linear(recurrent, units, bias=False, key=keys[4])
        self.posterior_seen = Linear(embedding, units, bias=False, key=keys[5])
        self.posterior_norm = Norm(units)
        self.posterior_out = Linear(units, drawn, key=keys[6])
        self.initial_h = jnp.zeros(recurrent)

    @property
    def features(self) -> int:
        return self.initial_h.shape[-1] + self.variables * self.classes

    def initial(self, shape: tuple[int, ...] = ()) -> State:
        """The learned state before anything was seen."""
        h = jnp.tanh(self.initial_h).astype(self.dtype)
        one = self._state(h, self.prior(h).mode())
        return jax.tree.map(lambda each: jnp.broadcast_to(each, (*shape, *each.shape)), one)

    def recur(self, state: State | Drawn, action: Float[Array, "*shape actions"]) -> Float[Array, "*shape recurrent"]:
        """h_t, from the state before and the action played in it."""
        if isinstance(state, Drawn):
            joined = Sparse(action.astype(self.dtype), state.rows(after=0), start=self.variables * self.classes)
            return self.gru(self.enter(joined), state.h)
        drawn = state.z.reshape(*state.z.shape[:-2], -1)
        return self.gru(self.enter(jnp.concatenate([drawn, action.astype(self.dtype)], axis=-1)), state.h)

    def prior(self, h: Float[Array, "*shape recurrent"]) -> Latent:
        return self._latent(self.prior_out(self.prior_hidden(h)))

    def posterior(self, h: Float[Array, "*shape recurrent"], seen: Float[Array, "*shape units"]) -> Latent:
        """`seen` is `posterior_seen` of the embedding."""
        joined = jax.nn.silu(self.posterior_norm(self.posterior_state(h) + seen))
        return self._latent(self.posterior_out(joined))

    def imagine(self, state: AnyState, action: Float[Array, "*shape actions"], *, key: PRNGKeyArray) -> AnyState:
        """One step without seeing."""
        h = self.recur(state, action)
        prior = self.prior(h)
        if isinstance(state, Drawn):
            # Of a class nobody can see that it was drawn from NaN; h tells.
            lost = jnp.any(jnp.isnan(prior.logits), axis=(-2, -1))
            return Drawn(where(lost, jnp.full_like(h, jnp.nan), h), prior.draw(key=key), self.classes)
        return self._state(h, prior.sample(key=key))

    def observe(
        self,
        state: State,
        action: Float[Array, "*shape actions"],
        seen: Float[Array, "*shape units"],
        is_first: Bool[Array, "*shape"],
        fresh: State,
        *,
        key: PRNGKeyArray,
    ) -> tuple[State, Latent]:
        """One step with seeing; where an episode begins, `fresh`, the initial state, takes the place of what was."""
        state = jax.tree.map(lambda new, old: where(is_first, new, old), fresh, state)
        h = self.recur(state, where(is_first, jnp.zeros_like(action), action))
        posterior = self.posterior(h, seen)
        return self._state(h, posterior.sample(key=key)), posterior

    def _state(self, h: Float[Array, "*shape recurrent"], z: Float[Array, "*shape variables classes"]) -> State:
        return State(h.astype(self.dtype), z.astype(self.dtype))

    def _latent(self, flat: Float[Array, "*shape drawn"]) -> Latent:
        # Probabilities in float32, whatever the layers compute in.
        return Latent(flat.astype(jnp.float32).reshape(*flat.shape[:-1], self.variables, self.classes))


def where(mask: Bool[Array, "*shape"], new: Array, old: Array) -> Array:
    return jnp.where(mask.reshape(*mask.shape, *[1] * (new.ndim - mask.ndim)), new, old)

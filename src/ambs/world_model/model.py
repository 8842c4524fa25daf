"""The world model: what it sees, remembers and predicts, and the loss it learns by.

    loss = β_pred (observation + reward + continue + cost + safety) + β_dyn dynamics + β_rep representation

Rows are time steps. The action of a row is the one that led to it, as are its reward and cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.types import Prediction
from ambs.world_model.codec import Decoder, Encoder
from ambs.world_model.foresight import foresee
from ambs.world_model.latent import Latent, balanced_kl
from ambs.world_model.layers import MLP
from ambs.world_model.numbers import BINS, TwoHot
from ambs.world_model.parts import Part
from ambs.world_model.rssm import RSSM, AnyState, State
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse

EVENTS = ("reward", "continue", "cost", "safety")


class Weights(NamedTuple):
    """Of the losses in the sum that is minimised, beside that of the observation; as they are here, the paper's."""

    events: float = 1.0
    """Of what is rare and matters most: rewards, costs, ends. In a sum over hundreds of cells or thousands of pixels
    it drowns."""
    ahead: float = 0.0
    """Of events that are to be foreseen, beside those that have been seen: so many times that of events."""
    dynamics: float = 0.5
    representation: float = 0.1

    def total(self, losses: Mapping[str, Float[Array, ""]]) -> Float[Array, ""]:
        """`losses` as `WorldModel.losses` gives them."""
        scales = {"observation": 1.0, "ahead": self.events * self.ahead} | dict.fromkeys(EVENTS, self.events)
        scales |= {"dynamics": self.dynamics, "representation": self.representation}
        return sum((scales[name] * value for name, value in losses.items()), jnp.zeros(()))


class Sequences(NamedTuple):
    """A batch of sequences from the replay, `[batch, time, ...]`."""

    obs: Mapping[str, Array]
    action: Float[Array, "batch time actions"]
    reward: Float[Array, "batch time"]
    cost: Float[Array, "batch time"]
    is_first: Bool[Array, "batch time"]
    is_terminal: Bool[Array, "batch time"]


class WorldModel(eqx.Module):
    """DreamerV3's world model with two more heads: what a state costs, and whether it is safe."""

    encoder: Encoder
    rssm: RSSM
    decoder: Decoder
    reward: MLP
    cost: MLP
    continuation: MLP
    safety: MLP
    parts: tuple[Part, ...] = eqx.field(static=True)

    def __init__(
        self, parts: tuple[Part, ...], actions: int, size: Size, *, dtype: str = "float32", key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, 7)
        self.parts = parts
        wide: Any = {"units": size.units, "layers": size.layers}
        sight = wide | {"images": size.images, "depth": size.depth, "units": size.codec or size.units}
        self.encoder = Encoder(parts, **sight, key=keys[0])
        self.rssm = RSSM(
            actions=actions,
            embedding=self.encoder.embedding,
            recurrent=size.recurrent,
            units=size.units,
            variables=size.variables,
            classes=size.classes,
            dtype=dtype,
            key=keys[1],
        )
        features = size.recurrent + size.variables * size.classes
        self.decoder = Decoder(features, parts, **sight, key=keys[2])
        # Heads that start by predicting nothing: rewards and costs are rare, and a random guess would be acted upon.
        self.reward = MLP(features, (BINS,), **wide, scale=0.0, key=keys[3])
        self.cost = MLP(features, (BINS,), **wide, scale=0.0, key=keys[4])
        self.continuation = MLP(features, (), **wide, key=keys[5])
        self.safety = MLP(features, (), **wide, key=keys[6])

    def prepare(self, obs: Mapping[str, Array]) -> dict[str, Float[Array, "..."]]:
        return {part.key: part.prepare(obs[part.key]) for part in self.parts}

    def embed(self, seen: Mapping[str, Float[Array, "..."]]) -> Float[Array, "*shape units"]:
        """What the posterior takes of an observation that was prepared."""
        return self.rssm.posterior_seen(self.encoder({key: x.astype(self.rssm.dtype) for key, x in seen.items()}))

    def observe(
        self, state: State, action: Float[Array, "*shape actions"], obs: Mapping[str, Array],
        is_first: Bool[Array, "*shape"], *, key: PRNGKeyArray,
    ) -> State:  # fmt: skip
        """The state after one more observation: how an agent follows what happens."""
        seen = self.embed(self.prepare(obs))
        fresh = self.rssm.initial(is_first.shape)
        return self.rssm.observe(state, action, seen, is_first, fresh, key=key)[0]

    def step(
        self, state: AnyState, action: Float[Array, "*shape actions"], *, key: PRNGKeyArray
    ) -> tuple[AnyState, Prediction]:
        """The contract of a model: one imagined transition."""
        following = self.rssm.imagine(state, action, key=key)
        features = following.features
        cost, cont = self.predict_cost(features), self.predict_continue(features)
        return following, Prediction(cost, cont, {})

    def predict_reward(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        return TwoHot(self.reward(features)).mean

    def predict_cost(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        """Never below 0, as costs are; a head that has learned nothing yet is a rounding error away from it."""
        return jnp.maximum(TwoHot(self.cost(features)).mean, 0.0)

    def predict_continue(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        return jax.nn.sigmoid(self.continuation(features))

    def predict_safe(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        """The safety discount: the probability that the formula holds in the state."""
        return jax.nn.sigmoid(self.safety(features))

    def follow(
        self, batch: Sequences, seen: Mapping[str, Array], start: State, *, key: PRNGKeyArray
    ) -> tuple[State, Latent]:
        """The states and posteriors along all sequences, `[batch, time, ...]`."""
        embedded = self.embed(seen)
        fresh = self.rssm.initial(batch.is_first.shape[:1])

        def step(state: State, row: tuple[Array, ...]) -> tuple[State, tuple[State, Latent]]:
            action, saw, first, key = row
            state, posterior = self.rssm.observe(state, action, saw, first, fresh, key=key)
            return state, (state, posterior)

        by_time = (jnp.swapaxes(each, 0, 1) for each in (batch.action, embedded, batch.is_first))
        keys = jax.random.split(key, batch.action.shape[1])
        _, out = jax.lax.scan(step, start, (*by_time, keys))
        states, posteriors = jax.tree.map(lambda each: jnp.swapaxes(each, 0, 1), out)
        return states, posteriors

    def losses(
        self, batch: Sequences, start: State, *, pictures: float = 1.0, ahead: int = 0, key: PRNGKeyArray
    ) -> tuple[dict[str, Array], State]:
        """Each loss, averaged over batch and time, and the states that were inferred; `pictures` is their weight in the
        loss of the observation.

        With `ahead`, also the losses of the heads, summed up, on states drawn that many steps before they are seen, or
        fewer.
        """
        seen = self.prepare(batch.obs)
        states, posteriors = self.follow(batch, seen, start, key=key)
        features, prior = states.features, self.rssm.prior(states.h)
        dynamics, representation = balanced_kl(posteriors, prior)
        each = {
            "observation": self.decoder.loss(features, seen, pictures),
            **self._event_losses(features, batch),
            "dynamics": dynamics,
            "representation": representation,
        }
        if ahead:
            drawn, same = foresee(
                self.rssm, states, batch.action, batch.is_first, ahead, key=jax.random.fold_in(key, 1)
            )
            rows = jax.tree.map(lambda each: each[:, 1 : same.shape[1] + 1], batch)
            each["ahead"] = sum(self._event_losses(drawn.features, rows).values(), jnp.zeros(())) * same
        return {name: loss.mean() for name, loss in each.items()}, states

    def _event_losses(
        self, features: Float[Array, "batch time features"], batch: Sequences
    ) -> dict[str, Float[Array, "batch time"]]:
        return {
            "reward": TwoHot(self.reward(features)).loss(batch.reward),
            "continue": _bernoulli_loss(self.continuation(features), ~batch.is_terminal),
            "cost": TwoHot(self.cost(features)).loss(batch.cost),
            "safety": _bernoulli_loss(self.safety(features), batch.cost <= 0),
        }


def _bernoulli_loss(logits: Float[Array, "*shape"], target: Bool[Array, "*shape"]) -> Float[Array, "*shape"]:
    return jax.nn.softplus(logits) - logits * target

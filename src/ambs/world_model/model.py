"""The world model: what it sees, remembers and predicts, and the loss it learns by.

    loss = β_pred (observation + reward + continue + cost + safety) + β_dyn dynamics + β_rep representation

Where an observation is a grid that is its own code (`board.py`), the loss of the observation is what it was expected to
be before it was seen, and there is no other of the dynamics.

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
from ambs.world_model.board import Board, Followed, Position, is_board
from ambs.world_model.codec import Decoder, Encoder
from ambs.world_model.foresight import foresee
from ambs.world_model.latent import Latent, balanced_kl
from ambs.world_model.layers import MLP
from ambs.world_model.numbers import BINS, TwoHot
from ambs.world_model.parts import Part
from ambs.world_model.rssm import RSSM, Drawn, State
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse

EVENTS = ("reward", "continue", "cost", "safety")
CERTAIN = 20.0

# What a world model remembers, whatever it is made of.
WorldState = State | Drawn | Position


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

    encoder: Encoder | None
    rssm: RSSM | Board
    decoder: Decoder | None
    reward: MLP
    cost: MLP
    continuation: MLP
    safety: MLP
    parts: tuple[Part, ...] = eqx.field(static=True)

    def __init__(
        self, parts: tuple[Part, ...], actions: int, size: Size, *, grids: str = "codes", dtype: str = "float32",
        key: PRNGKeyArray,
    ) -> None:  # fmt: skip
        keys = jax.random.split(key, 7)
        self.parts = parts
        wide: Any = {"units": size.units, "layers": size.layers}
        if grids == "cells" and is_board(parts):
            self.encoder = self.decoder = None
            self.rssm = Board(parts[0].image, actions, size, dtype=dtype, key=keys[1])
        else:
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
            self.decoder = Decoder(self.rssm.features, parts, **sight, key=keys[2])
        features = self.rssm.features
        # Heads that start by predicting nothing: rewards and costs are rare, and a random guess would be acted upon.
        self.reward = MLP(features, (BINS,), **wide, scale=0.0, key=keys[3])
        self.cost = MLP(features, (BINS,), **wide, scale=0.0, key=keys[4])
        self.continuation = MLP(features, (), **wide, key=keys[5])
        self.safety = MLP(features, (), **wide, key=keys[6])

    def prepare(self, obs: Mapping[str, Array]) -> dict[str, Float[Array, "..."]]:
        return {part.key: part.prepare(obs[part.key]) for part in self.parts}

    def embed(self, seen: Mapping[str, Float[Array, "..."]]) -> Float[Array, "..."]:
        """What the state takes of an observation that was prepared: what the posterior is told, or the cells."""
        inputs = {key: x.astype(self.rssm.dtype) for key, x in seen.items()}
        if isinstance(self.rssm, Board):
            return inputs[self.parts[0].key]
        assert self.encoder is not None
        return self.rssm.posterior_seen(self.encoder(inputs))

    def observe(
        self, state: WorldState, action: Float[Array, "*shape actions"], obs: Mapping[str, Array],
        is_first: Bool[Array, "*shape"], *, key: PRNGKeyArray, likeliest: bool = False,
    ) -> WorldState:  # fmt: skip
        """The state after one more observation, drawn or the likeliest: how an agent follows what happens."""
        fresh = self.rssm.initial(is_first.shape)
        return self.notice(state, action, self.embed(self.prepare(obs)), is_first, fresh, key=key, likeliest=likeliest)

    def notice(
        self, state: Any, action: Float[Array, "*shape actions"], seen: Float[Array, "..."],
        is_first: Bool[Array, "*shape"], fresh: Any, *, key: PRNGKeyArray, likeliest: bool = False,
    ) -> Any:  # fmt: skip
        """The same with `seen` as `embed` gives it, and the initial state at hand."""
        if isinstance(self.rssm, Board):
            return self.rssm.observe(state, action, seen, is_first, fresh)
        drawn, posterior = self.rssm.observe(state, action, seen, is_first, fresh, key=key)
        return State(drawn.h, posterior.mode().astype(drawn.z.dtype)) if likeliest else drawn

    def decode(self, state: Any) -> dict[str, Float[Array, "..."]]:
        """What a state looks like, by part, as `Part.show` takes it."""
        if isinstance(state, Position):
            # Logits of what is certain.
            return {self.parts[0].key: CERTAIN * (2 * state.cells.astype(jnp.float32) - 1)}
        assert self.decoder is not None
        return self.decoder(state.features)

    def imagine(self, state: Any, action: Float[Array, "*shape actions"], *, key: PRNGKeyArray) -> Any:
        """The state one step later, without seeing."""
        return self.rssm.imagine(state, action, key=key)

    def step(
        self, state: WorldState, action: Float[Array, "*shape actions"], *, key: PRNGKeyArray
    ) -> tuple[WorldState, Prediction]:
        """The contract of a model: one imagined transition."""
        following = self.imagine(state, action, key=key)
        features = following.features
        cost, cont = self.predict_cost(features), self.predict_continue(features)
        return following, Prediction(cost, cont, {})

    def _told(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape features"] | Sparse:
        """What the heads are told of a state."""
        if isinstance(self.rssm, Board):
            assert not isinstance(features, Sparse)
            return self.rssm.told_heads(features)
        return features

    def predict_reward(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        return TwoHot(self.reward(self._told(features))).mean

    def predict_cost(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        """Never below 0, as costs are; a head that has learned nothing yet is a rounding error away from it."""
        return jnp.maximum(TwoHot(self.cost(self._told(features))).mean, 0.0)

    def predict_continue(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        return jax.nn.sigmoid(self.continuation(self._told(features)))

    def predict_safe(self, features: Float[Array, "*shape features"] | Sparse) -> Float[Array, "*shape"]:
        """The safety discount: the probability that the formula holds in the state."""
        return jax.nn.sigmoid(self.safety(self._told(features)))

    def follow(
        self, batch: Sequences, seen: Mapping[str, Array], start: State, *, key: PRNGKeyArray
    ) -> tuple[State, Latent]:
        """The states and posteriors along all sequences, `[batch, time, ...]`."""
        rssm = self.rssm
        assert isinstance(rssm, RSSM)
        embedded = self.embed(seen)
        fresh = rssm.initial(batch.is_first.shape[:1])

        def step(state: State, row: tuple[Array, ...]) -> tuple[State, tuple[State, Latent]]:
            action, saw, first, key = row
            state, posterior = rssm.observe(state, action, saw, first, fresh, key=key)
            return state, (state, posterior)

        by_time = (jnp.swapaxes(each, 0, 1) for each in (batch.action, embedded, batch.is_first))
        keys = jax.random.split(key, batch.action.shape[1])
        _, out = jax.lax.scan(step, start, (*by_time, keys))
        states, posteriors = jax.tree.map(lambda each: jnp.swapaxes(each, 0, 1), out)
        return states, posteriors

    def losses(
        self, batch: Sequences, start: Any, *, pictures: float = 1.0, ahead: int = 0, key: PRNGKeyArray
    ) -> tuple[dict[str, Array], Any]:
        """Each loss, averaged over batch and time, and the states that were inferred; `pictures` is their weight in the
        loss of the observation.

        With `ahead`, also the losses of the heads, summed up, on states drawn that many steps before they are seen, or
        fewer.
        """
        seen = self.prepare(batch.obs)
        later = jax.random.fold_in(key, 1)
        followed: Followed | None = None
        if isinstance(self.rssm, Board):
            cells = self.embed(seen)
            followed = self.rssm.follow(batch.action, cells, batch.is_first, start)
            states: Any = followed.states
            # Of the first thing that is seen, nothing could have been expected.
            each = {"observation": self.rssm.surprise(followed.expected, cells) * ~batch.is_first}
        else:
            states, posteriors = self.follow(batch, seen, start, key=key)
            dynamics, representation = balanced_kl(posteriors, self.rssm.prior(states.h))
            assert self.decoder is not None
            each = {
                "observation": self.decoder.loss(states.features, seen, pictures),
                "dynamics": dynamics,
                "representation": representation,
            }
        each |= self._event_losses(states.features, batch)
        if ahead == 1 and followed is not None and isinstance(self.rssm, Board):
            # What was expected of every row is at hand.
            each["ahead"] = self._all_events(self.rssm.foresee(followed, key=later), batch) * ~batch.is_first
        elif ahead:
            drawn, same = foresee(self.imagine, states, batch.action, batch.is_first, ahead, key=later)
            rows = jax.tree.map(lambda each: each[:, 1 : same.shape[1] + 1], batch)
            each["ahead"] = self._all_events(drawn, rows) * same
        return {name: loss.mean() for name, loss in each.items()}, states

    def _all_events(self, states: Any, batch: Sequences) -> Float[Array, "batch time"]:
        return sum(self._event_losses(states.features, batch).values(), jnp.zeros(()))

    def _event_losses(
        self, features: Float[Array, "batch time features"], batch: Sequences
    ) -> dict[str, Float[Array, "batch time"]]:
        told = self._told(features)
        return {
            "reward": TwoHot(self.reward(told)).loss(batch.reward),
            "continue": _bernoulli_loss(self.continuation(told), ~batch.is_terminal),
            "cost": TwoHot(self.cost(told)).loss(batch.cost),
            "safety": _bernoulli_loss(self.safety(told), batch.cost <= 0),
        }


def _bernoulli_loss(logits: Float[Array, "*shape"], target: Bool[Array, "*shape"]) -> Float[Array, "*shape"]:
    return jax.nn.softplus(logits) - logits * target

"""A grid of zeros and ones as its own code: dynamics of what is next to what, the same rule in every cell.

The recurrent state-space model has to find a code for what it sees before it can learn how that changes, and a grid
with eight things that move takes it longer to code than most runs last. A grid needs none: its cells say all.

    h_t = f(h_{t-1}, sight_{t-1}, a_{t-1})                   what no cell tells: a GRU
    x_t ~ p(· | g(around each cell in x_{t-1}, how long it has been so, h_t, a_{t-1}))    cells.py

`sight` is what the heads, the actor and the critics see of a grid beside h:
- all cells, through a dense layer;
- the sum over cells of what is next to what, before and after, by which a touch is recognised anywhere once seen;
- what is around *me*, and was there before, and where I am (sight.py).
How long a cell has been as it is tells when something that moves every so many steps will move on (ages.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ambs.world_model.ages import AGES, UNKNOWN, ages, older, told_apart
from ambs.world_model.cells import CERTAIN, draw, draw_lone, pick, surprise
from ambs.world_model.grids import mix
from ambs.world_model.layers import Dense, Linear
from ambs.world_model.parts import Part
from ambs.world_model.rssm import GRU, where
from ambs.world_model.sight import FAR, around_me, nearness, size_around_me
from ambs.world_model.sizes import Size

# More cells than these take too much memory a state.
MOST_CELLS = 1024
# Numbers that what is in a cell is told its neighbours by.
CODE = 8
# A cell is taken to stay as it is until something is learned: e^±KEEPS are the odds.
KEEPS = 3.0
# What is so only in one place, and not by what is around it, is learned so many times as slowly: a rule that was seen
# in some places should hold in all.
SELDOM = 0.1
# Whether the things of a channel are lone is one number, and plain from a few batches: it learns so many times faster.
PLAIN = 50.0


def is_board(parts: Sequence[Part]) -> bool:
    """Whether an observation is one grid that is not too large, and nothing else."""
    return [part.kind for part in parts] == ["grid"] and math.prod(parts[0].image[:2]) <= MOST_CELLS


class Position(eqx.Module):
    """The state: h, the cells that were seen or drawn, for how many steps each has been as it is; and what follows from
    them, the sight, and what each cell has around it."""

    h: Float[Array, "*shape recurrent"]
    sight: Float[Array, "*shape sight"]
    cells: Float[Array, "*shape rows columns channels"]
    age: Float[Array, "*shape rows columns"]
    around: Float[Array, "*shape rows columns width"]

    @property
    def features(self) -> Float[Array, "*shape features"]:
        """What the heads, the actor and the critics see."""
        return jnp.concatenate([self.h, self.sight], axis=-1)


class Expected(NamedTuple):
    """What is expected to come: where the first goes, and what the rest is to be worked out from once that is known."""

    first: Float[Array, "*shape rows columns"]
    """Logits; of no meaning where nothing leads."""
    inner: Float[Array, "*shape rows columns width"]
    anyway: Float[Array, "*shape rows columns channels"]


class Followed(NamedTuple):
    """Of every row of sequences: the state when it was seen, and what was before and was expected then."""

    states: Position
    before: Float[Array, "batch time rows columns channels"]
    age_before: Float[Array, "batch time rows columns"]
    expected: Expected


class Board(eqx.Module):
    """The dynamics of one grid; in the place of encoder, recurrent state-space model and decoder."""

    code: Linear
    local: Linear
    whole: Dense
    enter: Dense
    gru: GRU
    told: Linear
    gate: Linear
    narrow: Linear
    second: Linear
    out: Linear
    after: Linear
    rest: Linear
    anywhere: Linear
    lone: Float[Array, " channels"]
    place: Float[Array, "rows columns width"]
    initial_h: Float[Array, " recurrent"]
    shape: tuple[int, int, int] = eqx.field(static=True)
    sight: int = eqx.field(static=True)
    dtype: str = eqx.field(static=True)

    def __init__(
        self, shape: tuple[int, int, int], actions: int, size: Size, *, dtype: str = "float32", key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, 13)
        rows, columns, channels = shape
        width = 3 * size.depth
        self.shape, self.dtype = shape, dtype
        # Without a bias: empty cells among empty ones add nothing to the sum.
        self.code = Linear(2 * channels + len(AGES), CODE, bias=False, key=keys[0])
        self.local = Linear(9 * CODE, 2 * width, bias=False, key=keys[1])
        self.whole = Dense(rows * columns * channels, size.units, key=keys[4])
        self.sight = size.units + width + size_around_me(shape)
        self.enter = Dense(self.sight + actions, size.units, key=keys[2])
        self.gru = GRU(size.units, size.recurrent, key=keys[3])
        self.told = Linear(size.recurrent + actions, width, key=keys[5])
        self.gate = Linear(size.recurrent + actions, width, key=keys[6])
        self.narrow = Linear(width, CODE, key=keys[12])
        self.second = Linear(9 * CODE, width, key=keys[7])
        self.out = Linear(width, channels, scale=0.3, key=keys[8])
        self.after = Linear(9 * channels, width, bias=False, key=keys[10])
        self.rest = Linear(width, channels, scale=0.3, key=keys[11])
        self.lone = jnp.zeros(channels)
        self.anywhere = Linear(size.recurrent, rows * columns * channels, scale=0.0, key=keys[9])
        self.place = jnp.zeros((rows, columns, width))
        self.initial_h = jnp.zeros(size.recurrent)

    @property
    def features(self) -> int:
        return self.initial_h.shape[-1] + self.sight

    def told_heads(self, features: Float[Array, "*shape features"]) -> Float[Array, "*shape features"]:
        """What the heads are told of a state: all but what is next to me made small (sight.py says why)."""
        around = nearness(self.shape)
        weight = jnp.asarray(np.concatenate([np.full(self.features - len(around), FAR), around]), features.dtype)
        return features * weight.reshape(*[1] * (features.ndim - 1), -1)

    def initial(self, shape: tuple[int, ...] = ()) -> Position:
        """The learned state before anything was seen: nothing, and nobody knows for how long."""
        rows, columns, channels = self.shape
        empty = (rows, columns)
        one = Position(
            jnp.tanh(self.initial_h), jnp.zeros(self.sight), jnp.zeros((*empty, channels)),
            jnp.full(empty, float(UNKNOWN)), jnp.zeros(self.place.shape),
        )  # fmt: skip
        return jax.tree.map(lambda each: jnp.broadcast_to(each.astype(self.dtype), (*shape, *each.shape)), one)

    def recur(self, state: Position, action: Float[Array, "*shape actions"]) -> Float[Array, "*shape recurrent"]:
        """h_t, from the state before and the action played in it."""
        return self.gru(self.enter(jnp.concatenate([state.sight, action.astype(self.dtype)], axis=-1)), state.h)

    def expect(
        self,
        h: Float[Array, "*shape recurrent"],
        action: Float[Array, "*shape actions"],
        cells: Float[Array, "*shape rows columns channels"],
        around: Float[Array, "*shape rows columns width"],
    ) -> Expected:
        """What comes after these cells."""
        told = jnp.concatenate([h, action.astype(self.dtype)], axis=-1)
        place = (SELDOM * self.place).astype(self.dtype).reshape(*[1] * (around.ndim - 3), *self.place.shape)
        x = jax.nn.relu(around + place + self.told(told)[..., None, None, :])
        # Once more what is around: so a cell knows of those two steps away, and that beyond the edge there is nothing.
        x = _around(self.second, jax.nn.relu(self.narrow(x)))
        x = x * (2 * jax.nn.sigmoid(self.gate(told)))[..., None, None, :]
        anyway = SELDOM * self.anywhere(h).reshape(*h.shape[:-1], *self.shape).astype(jnp.float32)
        anyway = anyway + KEEPS * (2 * cells.astype(jnp.float32) - 1)
        first = _of(self.first, self.out(jax.nn.relu(x)).astype(jnp.float32) + anyway)
        return Expected(first, x, anyway)

    @property
    def log_odds(self) -> Float[Array, " channels"]:
        """That the things of a channel are lone."""
        return PLAIN * self.lone

    @property
    def leads(self) -> Bool[Array, " channels"]:
        """The first channel whose thing is certainly lone, in grids of games the player: where it goes, all others are
        told."""
        alone = jax.lax.stop_gradient(self.log_odds) > CERTAIN
        return alone & (jnp.cumsum(alone) == 1)

    @property
    def first(self) -> Int[Array, ""]:
        """Its number; 0 if there is none."""
        return jnp.argmax(self.leads)

    def others(
        self, expected: Expected, cells: Float[Array, "*shape rows columns channels"]
    ) -> Float[Array, "*shape rows columns channels"]:
        """The logits of all things, where the first has gone as it has in `cells`."""
        return self._others(expected, _of(self.first, cells)[..., None])

    def _others(
        self, expected: Expected, gone: Float[Array, "*shape rows columns 1"]
    ) -> Float[Array, "*shape rows columns channels"]:
        """The same, of the cells of the first alone."""
        leads = self.leads
        after = self.after.weight.reshape(9, len(leads), -1)[:, self.first]
        after = jnp.where(jnp.any(leads), after, 0).astype(self.dtype)
        x = jax.nn.relu(expected.inner + mix(gone.astype(self.dtype), after))
        # Of the first itself that would say where it is, having been told.
        return pick(leads, expected.first[..., None], self.rest(x).astype(jnp.float32) + expected.anyway)

    def draw(self, expected: Expected, *, key: PRNGKeyArray) -> Float[Array, "*shape rows columns channels"]:
        before, after = jax.random.split(key)
        first = draw_lone(expected.first[..., None], key=before)
        # It is drawn already: as one of the others it may be drawn as whatever is cheapest.
        log_odds = jnp.where(self.leads, -jnp.inf, jax.lax.stop_gradient(self.log_odds))
        then = draw(log_odds, self._others(expected, first), key=after)
        return pick(self.leads, first, then).astype(self.dtype)

    def surprise(
        self, expected: Expected, cells: Float[Array, "*shape rows columns channels"]
    ) -> Float[Array, "*shape"]:
        """-ln p(cells)."""
        return surprise(self.log_odds, self.others(expected, cells), cells.astype(jnp.float32))

    def position(
        self,
        h: Float[Array, "*shape recurrent"],
        before: Float[Array, "*shape rows columns channels"],
        cells: Float[Array, "*shape rows columns channels"],
        age: Float[Array, "*shape rows columns"],
    ) -> Position:
        """The state with these cells of that age, after one with those `before`."""
        told = told_apart(age, cells).astype(self.dtype)
        code = jax.nn.relu(self.code(jnp.concatenate([before, cells, told], axis=-1)))
        touch, around = jnp.split(mix(code, self.local.weight), 2, axis=-1)
        whole = self.whole(cells.reshape(*cells.shape[:-3], -1))
        touched = jax.nn.relu(touch).sum(axis=(-3, -2))
        sight = jnp.concatenate([whole, touched, *around_me(cells, before)], axis=-1)
        return Position(h, sight, cells, age, around)

    def imagine(self, state: Position, action: Float[Array, "*shape actions"], *, key: PRNGKeyArray) -> Position:
        """One step without seeing."""
        h = self.recur(state, action)
        cells = self.draw(self.expect(h, action, state.cells, state.around), key=key)
        return self.position(h, state.cells, cells, older(state.age, state.cells, cells))

    def observe(
        self,
        state: Position,
        action: Float[Array, "*shape actions"],
        seen: Float[Array, "*shape rows columns channels"],
        is_first: Bool[Array, "*shape"],
        fresh: Position,
    ) -> Position:
        """One step with seeing; where an episode begins, `fresh`, the initial state, takes the place of what was."""
        state = jax.tree.map(lambda new, old: where(is_first, new, old), fresh, state)
        h = self.recur(state, where(is_first, jnp.zeros_like(action), action))
        # What one sees first has not just appeared.
        before = where(is_first, seen, state.cells)
        return self.position(h, before, seen, older(state.age, before, seen))

    def follow(
        self,
        action: Float[Array, "batch time actions"],
        seen: Float[Array, "batch time rows columns channels"],
        is_first: Bool[Array, "batch time"],
        start: Position,
    ) -> Followed:
        """All of `observe` along sequences: what the cells are is known, so that only h is made step by step."""
        fresh = self.initial(is_first.shape[:1])

        def earlier(first: Array, each: Array, anew: Array) -> Array:
            """Of every row the one before; where an episode begins, that of the initial state."""
            rows = jnp.concatenate([first[:, None], each[:, :-1]], axis=1)
            return where(is_first, jnp.broadcast_to(anew[:, None], rows.shape), rows)

        before = earlier(start.cells, seen, fresh.cells)
        # What one sees first has not just appeared.
        was = where(is_first, seen, before)
        age = ages(start.age, was, seen, is_first)
        # Without h, which depends on all that was before; nothing else does.
        states = self.position(jnp.zeros((*is_first.shape, 0), self.dtype), was, seen, age)
        action = where(is_first, jnp.zeros_like(action), action)
        sight = earlier(start.sight, states.sight, fresh.sight)
        entering = self.enter(jnp.concatenate([sight, action.astype(self.dtype)], axis=-1))

        def step(h: Array, row: tuple[Array, Array]) -> tuple[Array, Array]:
            x, first = row
            h = self.gru(x, where(first, fresh.h, h))
            return h, h

        _, out = jax.lax.scan(step, start.h, (jnp.swapaxes(entering, 0, 1), jnp.swapaxes(is_first, 0, 1)))
        h = jnp.swapaxes(out, 0, 1)
        expected = self.expect(h, action, before, earlier(start.around, states.around, fresh.around))
        age_before = earlier(start.age, age, fresh.age)
        return Followed(eqx.tree_at(lambda me: me.h, states, h), before, age_before, expected)

    def foresee(self, followed: Followed, *, key: PRNGKeyArray) -> Position:
        """Of every row, a state drawn from what was expected before it was seen.

        Heads learn by it and the dynamics do not: those learn from what the cells were, which says more.
        """
        cells = jax.lax.stop_gradient(self.draw(followed.expected, key=key))
        age = older(followed.age_before, followed.before, cells)
        return self.position(followed.states.h, followed.before, cells, age)


def _around(layer: Linear, x: Float[Array, "*shape rows columns code"]) -> Float[Array, "*shape rows columns width"]:
    """`layer(neighbours(x))`."""
    assert layer.bias is not None
    return mix(x, layer.weight) + layer.bias.astype(x.dtype).reshape(*[1] * (x.ndim - 1), -1)


def _of(
    channel: Int[Array, ""], cells: Float[Array, "*shape rows columns channels"]
) -> Float[Array, "*shape rows columns"]:
    return jax.lax.dynamic_index_in_dim(cells, channel, axis=-1, keepdims=False)

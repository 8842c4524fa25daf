"""A grid as its own code: follows what is seen, recognises a touch anywhere, and learns when something moves on."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ambs.agents.learner import Learner, learn
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.world_model.ages import AGES, UNKNOWN
from ambs.world_model.board import Board
from ambs.world_model.model import Sequences, WorldModel
from ambs.world_model.parts import Part
from ambs.world_model.sizes import size

SHAPE = (5, 6, 2)
ACTIONS = 3


def small():
    board = Board(SHAPE, ACTIONS, size("debug"), key=jax.random.key(0))
    # Where a cell is, and everything at once, count from the start in the tests.
    place = 3 * jax.random.normal(jax.random.key(1), board.place.shape)
    anywhere = 3 * jax.random.normal(jax.random.key(2), board.anywhere.weight.shape)
    return eqx.tree_at(lambda me: (me.place, me.anywhere.weight), board, (place, anywhere))


def sequences(batch=2, time=6):
    rng = np.random.default_rng(0)
    seen = (rng.random((batch, time, *SHAPE)) < 0.2).astype(np.float32)
    seen[:, 2] = seen[:, 1]
    action = np.eye(ACTIONS, dtype=np.float32)[rng.integers(ACTIONS, size=(batch, time))]
    first = np.zeros((batch, time), bool)
    first[0, 0] = first[1, 3] = True
    return jnp.asarray(action), jnp.asarray(seen), jnp.asarray(first)


def test_following_sequences_is_observing_them_step_by_step():
    board = small()
    action, seen, first = sequences()
    state = start = board.imagine(board.initial((2,)), action[:, 1], key=jax.random.key(5))
    followed = eqx.filter_jit(board.follow)(action, seen, first, start)
    for time in range(seen.shape[1]):
        fresh = board.initial((2,))
        begun = first[:, time]
        before = jax.tree.map(lambda new, old, at=begun: jnp.where(_like(at, new), new, old), fresh, state)
        played = jnp.where(begun[:, None], 0.0, action[:, time])
        expected = board.expect(board.recur(before, played), played, before.cells, before.around)
        state = board.observe(state, action[:, time], seen[:, time], begun, fresh)
        at = jax.tree.map(lambda each, time=time: each[:, time], followed)
        for one, other in zip(jax.tree.leaves(at.states), jax.tree.leaves(state), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        for one, other in zip(at.expected, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_what_is_foreseen_of_a_row_is_what_is_imagined_from_the_one_before():
    """But for which cells are drawn: here certain ones."""
    board = eqx.tree_at(lambda me: (me.rest.bias, me.lone), small(), (jnp.array([50.0, -50.0]), -jnp.ones(2)))
    action, seen, first = sequences()
    followed = board.follow(action, seen, first, board.initial((2,)))
    foreseen = board.foresee(followed, key=jax.random.key(0))
    for time in range(1, seen.shape[1]):
        before = jax.tree.map(lambda each, time=time: each[:, time - 1], followed.states)
        imagined = board.imagine(before, action[:, time], key=jax.random.key(1))
        for row in range(2):
            if not first[row, time]:
                for one, other in zip(jax.tree.leaves(foreseen), jax.tree.leaves(imagined), strict=True):
                    np.testing.assert_allclose(one[row, time], other[row], atol=1e-5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_gradient_step_of_everything_that_ambs_learns(precision):
    config = replace(with_safety(cpu_learner("debug")), grids="cells", starts=8, precision=precision)
    learner = Learner.create((Part("", "grid", SHAPE),), ACTIONS, config, discrete=True, key=jax.random.key(0))
    action, seen, first = sequences()
    # The things of the first channel are lone, those of the other are not.
    seen = seen.at[..., 0].set(0).at[..., 2, 3, 0].set(1)
    nothing = jnp.zeros(first.shape)
    batch = Sequences({"": seen.astype(jnp.uint8)}, action, nothing, nothing, first, jnp.zeros_like(first))
    learner = eqx.tree_at(lambda me: me.model.rssm.lone, learner, jnp.array([0.1, -0.1]))
    after, metrics = eqx.filter_jit(lambda me, key: learn(me, batch, config, key=key))(learner, jax.random.key(1))
    assert all(np.isfinite(value) for value in metrics.values())
    assert {"loss/observation", "loss/ahead", "safe/return"} <= metrics.keys()
    assert not {"loss/dynamics", "loss/representation"} & metrics.keys()
    for name in ("code", "local", "whole", "out", "rest", "told"):
        one, other = (jax.tree.leaves(getattr(each.model.rssm, name))[0] for each in (learner, after))
        assert not np.array_equal(one, other), name


def _like(rows, values):
    return rows.reshape(-1, *[1] * (values.ndim - 1))


def test_age_counts_steps_without_a_change_up_to_the_last_that_is_told_apart():
    board, cell = small(), (2, 3)
    state, fresh = board.initial((1,)), board.initial((1,))
    ages = []
    for on in [1, 1, 1, 0, 0, *[1] * (AGES[-1] + 3)]:
        seen = jnp.zeros((1, *SHAPE)).at[0, *cell, 1].set(on)
        state = board.observe(state, jnp.zeros((1, ACTIONS)), seen, jnp.array([False]), fresh)
        ages.append(int(state.age[0, *cell]))
    assert ages == [0, 1, 2, 0, 1, *range(AGES[-1] + 1), AGES[-1], AGES[-1]]
    # Of what was there when one began to look it is not known, until it changes.
    ages = []
    for on in (1, 1, 0, 0):
        seen = jnp.zeros((1, *SHAPE)).at[0, *cell, 1].set(on)
        state = board.observe(state, jnp.zeros((1, ACTIONS)), seen, jnp.array([not ages]), fresh)
        ages.append(int(state.age[0, *cell]))
    assert ages == [UNKNOWN, UNKNOWN, 0, 1]


def placed(*things):
    """A grid with a one at each (row, column, channel)."""
    cells = jnp.zeros((1, *SHAPE))
    for thing in things:
        cells = cells.at[0, *thing].set(1)
    return cells


def test_a_touch_is_seen_alike_wherever_it_happens():
    board = small()
    units, width = size("debug").units, board.place.shape[-1]

    def touching(row, column):
        before, after = placed((row, column, 0), (row, column + 1, 1)), placed((row, column + 1, 0))
        return board.position(board.initial((1,)).h, before, after, jnp.zeros((1, *SHAPE[:2]))).sight[0]

    here, there = touching(1, 1), touching(3, 3)
    np.testing.assert_allclose(here[units : units + width], there[units : units + width], atol=1e-5)
    assert not np.allclose(here[:units], there[:units])


def test_what_was_drawn_from_no_number_shows():
    board = eqx.tree_at(lambda me: me.rest.weight, small(), jnp.full_like(small().rest.weight, jnp.nan))
    state = board.imagine(board.initial((2,)), jnp.zeros((2, ACTIONS)), key=jax.random.key(0))
    assert np.isnan(state.features).any(axis=-1).all()


def test_a_state_looks_like_its_cells():
    part = Part("", "grid", SHAPE)
    model = WorldModel((part,), ACTIONS, size("debug"), grids="cells", key=jax.random.key(0))
    _, seen, _ = sequences()
    obs = {"": seen[:, 0].astype(jnp.uint8)}
    state = model.observe(
        model.rssm.initial((2,)), jnp.zeros((2, ACTIONS)), obs, jnp.ones(2, bool), key=jax.random.key(0)
    )
    np.testing.assert_array_equal(part.show(model.decode(state)[""]), obs[""])


@pytest.mark.parametrize("parts", [(Part("", "vector", (3,)),), (Part("a", "grid", SHAPE), Part("b", "vector", (3,)))])
def test_anything_but_one_grid_has_codes(parts):
    model = WorldModel(parts, ACTIONS, size("debug"), grids="cells", key=jax.random.key(0))
    assert not isinstance(model.rssm, Board)


def walkers(rng, batch, time):
    """Two things that walk to the right, around the grid: one every second step, one every fourth."""
    cells = np.zeros((batch, time, 5, 6, 2), np.uint8)
    row, column, clock = (rng.integers(n, size=(batch, 2)) for n in (5, 6, 4))
    for step in range(time):
        for thing, every in enumerate((2, 4)):
            column[:, thing] += (clock[:, thing] + step) % every == 0
            cells[np.arange(batch), step, row[:, thing], column[:, thing] % 6, thing] = 1
    return cells


def test_it_learns_when_things_move_on(optimised):
    """Once their clocks have been seen nothing is left to chance here: what surprises is what was not learned."""
    part, rng = Part("", "grid", (5, 6, 2)), np.random.default_rng(0)
    model = WorldModel((part,), ACTIONS, size("debug"), grids="cells", key=jax.random.key(0))
    optimiser = optax.adam(5e-3)
    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))

    def batch(count, time=12):
        nothing = np.zeros((count, time), np.float32)
        first = np.zeros((count, time), bool)
        first[:, 0] = True
        action = np.zeros((count, time, ACTIONS), np.float32)
        return Sequences({"": walkers(rng, count, time)}, action, nothing, nothing, first, np.zeros_like(first))

    @eqx.filter_jit
    def learn(model, state, seen, key):
        def loss(model):
            return model.losses(seen, model.rssm.initial((16,)), key=key)[0]["observation"]

        gradient = eqx.filter_grad(loss)(model)
        change, state = optimiser.update(gradient, state)
        return eqx.apply_updates(model, change), state

    for step in range(400):
        model, state = learn(model, state, batch(16), jax.random.key(step))
    # As long as an episode, where sequences of half of it were learned from.
    seen = jax.tree.map(jnp.asarray, batch(64, 24))
    cells = model.embed(model.prepare(seen.obs))
    followed = model.rssm.follow(seen.action, cells, seen.is_first, model.rssm.initial((64,)))
    late = model.rssm.surprise(followed.expected, cells)[:, 6:]
    # Who always expects all to stay where it is, or to move as often as it does, is surprised by more than 2.
    assert late.mean() < 0.7

"""Lone things and others: drawn as likely as expected, and told apart by learning."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ambs.world_model.board import Board
from ambs.world_model.cells import draw, draw_any, draw_lone, surprise
from ambs.world_model.sizes import size

CERTAINLY = 50.0


def logits(*probabilities):
    p = jnp.asarray(probabilities)
    return jnp.log(p) - jnp.log1p(-p)


def test_cells_are_drawn_as_likely_as_expected():
    drawn = jax.vmap(lambda key: draw_any(logits(0.01, 0.2, 0.9), key=key))(jax.random.split(jax.random.key(0), 20_000))
    np.testing.assert_allclose(drawn.mean(axis=0), [0.01, 0.2, 0.9], atol=0.01)
    assert set(np.unique(drawn)) == {0.0, 1.0}


def test_a_lone_thing_is_somewhere_as_likely_as_expected():
    p = jnp.array([[0.1, 0.0, 0.6], [0.05, 0.25, 0.0]])
    drawn = np.asarray(draw_lone(jnp.broadcast_to(jnp.log(p)[..., None], (20_000, 2, 3, 1)), key=jax.random.key(0)))
    assert set(np.unique(drawn)) == {0.0, 1.0}
    np.testing.assert_array_equal(drawn.sum(axis=(1, 2, 3)), 1)
    np.testing.assert_allclose(drawn.mean(axis=0)[..., 0], p, atol=0.012)


def test_two_lone_things_are_drawn_independently():
    """Each is in the last cell with 0.3; were they drawn by one die, both would be there with 0.3 and not with 0.09."""
    p = jnp.broadcast_to(jnp.array([0.7, 0.3])[:, None], (2, 2)).reshape(1, 2, 2)
    drawn = np.asarray(draw_lone(jnp.broadcast_to(jnp.log(p), (20_000, *p.shape)), key=jax.random.key(0)))
    np.testing.assert_allclose(drawn[:, 0, 1].all(axis=-1).mean(), 0.09, atol=0.01)


@pytest.mark.parametrize(("odds", "alone"), [(0.3, 0.3), (0.7, 0.7), (0.96, 1.0), (0.04, 0.0)])
def test_what_comes_and_goes_is_drawn_as_often_as_the_likelihood_has_it(odds, alone):
    """Cell by cell nothing is there: what is drawn is lone."""
    told = jnp.full((20_000, 2, 2, 1), -CERTAINLY)
    drawn = np.asarray(draw(jnp.log(jnp.array([odds / (1 - odds)])), told, key=jax.random.key(0)))
    assert set(drawn.sum(axis=(1, 2, 3))) <= {0, 1}
    np.testing.assert_allclose(drawn.sum(axis=(1, 2, 3)).mean(), alone, atol=0.015)


def test_the_surprise_of_cells_on_their_own():
    cells = jnp.array([1.0, 1.0, 0.0, 1.0]).reshape(2, 2, 1)
    found = surprise(jnp.array([-CERTAINLY]), logits(0.2, 0.9, 0.5, 0.5).reshape(2, 2, 1), cells)
    np.testing.assert_allclose(found, -np.log(0.2 * 0.9 * 0.5 * 0.5), rtol=1e-5)


def test_the_surprise_of_a_lone_thing_and_of_what_may_be_either():
    odds = jnp.array([1.0, 2.0, 3.0, 4.0])
    here = jnp.array([0.0, 0.0, 1.0, 0.0]).reshape(2, 2, 1)
    told = jnp.log(odds).reshape(2, 2, 1)
    each = np.array([1 / 2, 1 / 3, 3 / 4, 1 / 5]).prod()
    np.testing.assert_allclose(surprise(jnp.array([CERTAINLY]), told, here), -np.log(0.3), rtol=1e-5)
    np.testing.assert_allclose(surprise(jnp.zeros(1), told, here), -np.log((0.3 + each) / 2), rtol=1e-5)
    # Two of them are not lone, whatever was thought.
    two = here.at[0, 0].set(1)
    np.testing.assert_allclose(surprise(jnp.zeros(1), told, two), -np.log(each / 2), rtol=1e-5)


def wanderers(rng, count):
    """One that stays, or goes on by one with 0.9; gold, one or more, that is gone where it arrives."""
    before = np.zeros((count, 4, 5, 2), np.float32)
    row, column = rng.integers(4, size=count), rng.integers(4, size=count)
    each = np.arange(count)
    before[each, row, column, 0] = 1
    before[..., 1] = rng.random((count, 4, 5)) < 0.3
    after = before.copy()
    after[each, row, column, 0] = 0
    column = column + (rng.random(count) < 0.9)
    after[each, row, column, 0], after[each, row, column, 1] = 1, 0
    return jnp.asarray(before), jnp.asarray(after)


def test_it_learns_who_is_lone_and_what_happens_where_they_go():
    board, rng = Board((4, 5, 2), 1, size("debug"), key=jax.random.key(0)), np.random.default_rng(0)
    optimiser = optax.adam(0.01)
    state = optimiser.init(eqx.filter(board, eqx.is_inexact_array))
    action = jnp.zeros((64, 1))

    def expected(board, before):
        nobody_knows = jnp.full(before.shape[:-1], -1.0)
        h = board.initial((len(before),)).h
        at = board.position(h, before, before, nobody_knows)
        return board.expect(h, action[: len(before)], before, at.around)

    @eqx.filter_jit
    def learn(board, state, before, after):
        gradient = eqx.filter_grad(lambda me: me.surprise(expected(me, before), after).mean())(board)
        change, state = optimiser.update(gradient, state)
        return eqx.apply_updates(board, change), state

    for _ in range(500):
        board, state = learn(board, state, *wanderers(rng, 64))
    np.testing.assert_array_equal(board.leads, [True, False])
    before, _ = wanderers(rng, 64)
    drawn = np.asarray(eqx.filter_jit(lambda me, key: me.draw(expected(me, before), key=key))(board, jax.random.key(1)))
    before = np.asarray(before)
    np.testing.assert_array_equal(drawn[..., 0].sum(axis=(1, 2)), 1)
    moved = (drawn[..., 0] != before[..., 0]).any(axis=(1, 2))
    assert 0.75 < moved.mean() < 1
    # No gold under the wanderer, wherever it went; gold elsewhere is still there.
    assert (drawn[..., 0] * drawn[..., 1]).sum() <= 3
    elsewhere = (1 - drawn[..., 0]) * before[..., 1]
    assert (drawn[..., 1] * elsewhere).sum() > 0.97 * elsewhere.sum()

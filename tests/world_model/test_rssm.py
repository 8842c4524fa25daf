"""The recurrent state-space model: episodes begin anew, and what each part of a state may depend on."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ambs.world_model.rssm import RSSM, State

KEY = jax.random.key(3)


def small():
    return RSSM(actions=2, embedding=3, recurrent=6, units=5, variables=4, classes=3, key=jax.random.key(0))


@eqx.filter_jit
def somewhere(rssm):
    """Two states that the model can come to: one imagined step from the start."""
    return rssm.imagine(rssm.initial((2,)), jnp.array([[1.0, 0.5], [0.0, 2.0]]), key=jax.random.key(1))


def observe(rssm, state, action, is_first, seen=0.0):
    return _observe(rssm, state, action, jnp.array(is_first), jnp.full((2, 5), seen))


@eqx.filter_jit
def _observe(rssm, state, action, is_first, seen):
    return rssm.observe(state, action, seen, is_first, rssm.initial((2,)), key=KEY)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def test_an_episode_begins_from_the_initial_state_whatever_was_before():
    rssm, action = small(), jnp.array([[0.0, 1.0], [1.0, 0.0]])
    before = somewhere(rssm)
    began, posterior = observe(rssm, before, action, [True, True])
    expected, expected_posterior = observe(rssm, rssm.initial((2,)), jnp.zeros((2, 2)), [False, False])
    assert same(began, expected)
    assert same(posterior, expected_posterior)


def test_only_the_rows_that_begin_are_reset():
    rssm, action = small(), jnp.array([[0.0, 1.0], [1.0, 0.0]])
    before = somewhere(rssm)
    mixed, going_on, begun = (
        observe(rssm, before, action, first)[0] for first in ([False, True], [False, False], [True, True])
    )
    np.testing.assert_array_equal(mixed.h[0], going_on.h[0])
    np.testing.assert_array_equal(mixed.h[1], begun.h[1])
    assert not np.allclose(going_on.h, begun.h)


def test_the_action_counts_except_at_the_beginning():
    rssm, before = small(), somewhere(small())
    left, right = jnp.array([[1.0, 0.0]] * 2), jnp.array([[0.0, 1.0]] * 2)
    going = [False, False]
    assert not np.allclose(observe(rssm, before, left, going)[0].h, observe(rssm, before, right, going)[0].h)
    assert same(observe(rssm, before, left, [True, True])[0], observe(rssm, before, right, [True, True])[0])


def test_h_does_not_know_what_is_seen_and_the_posterior_does():
    rssm, before, action = small(), somewhere(small()), jnp.array([[1.0, 0.0]] * 2)
    blank, posterior = observe(rssm, before, action, [False, False])
    seeing, other = observe(rssm, before, action, [False, False], seen=np.array([0.0, 3, 6, 9, 12]))
    np.testing.assert_array_equal(blank.h, seeing.h)
    assert not np.allclose(posterior.logits, other.logits)


def test_the_initial_state_is_learned():
    """The gradient of a first step reaches the initial state, and that of a later step does not."""

    before = somewhere(small())

    @eqx.filter_jit
    @eqx.filter_grad
    def gradient(rssm, is_first):
        return jnp.sum(_observe(rssm, before, jnp.ones((2, 2)), is_first, jnp.zeros((2, 5)))[0].h ** 2)

    assert np.any(gradient(small(), jnp.array([False, True])).initial_h)
    assert not np.any(gradient(small(), jnp.array([False, False])).initial_h)


def test_the_initial_state_is_the_most_likely_one_of_its_h():
    rssm = eqx.tree_at(lambda me: me.initial_h, small(), jnp.linspace(-2.0, 2.0, 6))
    state = rssm.initial((3,))
    np.testing.assert_allclose(state.h, np.tile(np.tanh(np.linspace(-2, 2, 6)), (3, 1)), rtol=1e-5)
    np.testing.assert_array_equal(state.z.argmax(axis=-1), rssm.prior(state.h).probs.argmax(axis=-1))


def test_features_are_h_and_then_z():
    state = State(jnp.array([1.0, 2.0]), jnp.array([[0.0, 1.0], [1.0, 0.0]]))
    np.testing.assert_array_equal(state.features, [1, 2, 0, 1, 1, 0])

"""Distributions over actions, against numbers worked out by hand and against scipy."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from ambs.behaviour.actor import Actor, Choice, Continuous, Likeliest
from ambs.world_model.rssm import State
from ambs.world_model.sizes import size
from tests.behaviour.by_hand import FEATURES, behaviour, with_outputs
from tests.behaviour.test_actor_critic import CONFIG

# softmax (.1, .2, .7), of which 99 %, and 1/300 for each.
CHOICE = Choice(jnp.log(jnp.array([1.0, 2, 7])))
PROBS = np.array([0.099, 0.198, 0.693]) + 0.01 / 3


def test_a_choice_by_hand():
    np.testing.assert_allclose(CHOICE.probs, PROBS, rtol=1e-5)
    np.testing.assert_allclose(CHOICE.log_prob(jnp.array([0.0, 1, 0])), math.log(PROBS[1]), rtol=1e-5)
    np.testing.assert_allclose(CHOICE.entropy(), -np.sum(PROBS * np.log(PROBS)), rtol=1e-5)
    np.testing.assert_array_equal(CHOICE.mode(), [0, 0, 1])


def test_nothing_is_impossible():
    assert float(Choice(jnp.array([0.0, 1000.0])).log_prob(jnp.array([1.0, 0]))) == pytest.approx(math.log(0.005))


def test_choices_are_drawn_as_often_as_they_are_likely():
    many = Choice(jnp.broadcast_to(CHOICE.logits, (20_000, 3))).sample(key=jax.random.key(0))
    np.testing.assert_array_equal(many.sum(axis=-1), 1)
    assert stats.chisquare(np.asarray(many.sum(axis=0)), 20_000 * PROBS, sum_check=False).pvalue > 1e-3


NORMALS = Continuous(jnp.array([0.5, -0.2]), jnp.array([0.3, 0.9]))
SCIPY = stats.norm([0.5, -0.2], [0.3, 0.9])


def test_continuous_actions_are_normal():
    at = np.array([0.1, 1.3], np.float32)
    np.testing.assert_allclose(NORMALS.log_prob(jnp.asarray(at)), SCIPY.logpdf(at).sum(), rtol=1e-5)
    np.testing.assert_allclose(NORMALS.entropy(), SCIPY.entropy().sum(), rtol=1e-5)
    np.testing.assert_array_equal(NORMALS.mode(), NORMALS.mean)
    many = jax.vmap(lambda key: NORMALS.sample(key=key))(jax.random.split(jax.random.key(0), 5000))
    for drawn, mean, deviation in zip(np.asarray(many).T, (0.5, -0.2), (0.3, 0.9), strict=True):
        assert stats.kstest(drawn, stats.norm(mean, deviation).cdf).pvalue > 1e-3


def test_continuous_samples_have_a_gradient():
    """a = μ + σ ε: 1 by the mean, ε by the deviation."""
    key = jax.random.key(0)
    by_mean, by_deviation = jax.grad(lambda *at: Continuous(*at).sample(key=key).sum(), (0, 1))(
        NORMALS.mean, NORMALS.deviation
    )
    np.testing.assert_allclose(by_mean, 1)
    np.testing.assert_allclose(by_deviation, (NORMALS.sample(key=key) - NORMALS.mean) / NORMALS.deviation, rtol=1e-5)


@pytest.mark.parametrize(
    ("outputs", "mean", "deviation"),
    # The deviation of an untrained actor is .1 + .9 / (1 + e^-2).
    [((0.0, 0.0), 0.0, 0.892717), ((3.0, 100.0), 0.995055, 1.0), ((-3.0, -100.0), -0.995055, 0.1)],
)
def test_means_and_deviations_stay_within_their_bounds(outputs, mean, deviation):
    actor = with_outputs(behaviour(CONFIG, actions=1, discrete=False), "actor.net", jnp.array(outputs)).actor
    policy = eqx.filter_jit(actor)(jnp.ones((4, FEATURES)))
    assert isinstance(policy, Continuous)
    np.testing.assert_allclose(policy.mean, np.full((4, 1), mean), rtol=1e-5)
    np.testing.assert_allclose(policy.deviation, np.full((4, 1), deviation), rtol=1e-5)


def test_an_action_teaches_nothing_of_how_its_state_came_about():
    actor = eqx.filter_jit(Actor)(FEATURES, 1, size("debug"), discrete=False, key=jax.random.key(0))

    def drawn(h):
        return actor.sample(State(h, jnp.ones((1, 1))), key=jax.random.key(1)).sum()

    assert float(drawn(jnp.zeros(1))) != float(drawn(jnp.ones(1)))
    np.testing.assert_array_equal(jax.grad(drawn)(jnp.zeros(1)), 0)


@pytest.mark.parametrize("discrete", [True, False])
def test_the_likeliest_is_always_the_same(discrete):
    actor = eqx.filter_jit(Actor)(FEATURES, 3, size("debug"), discrete=discrete, key=jax.random.key(0))
    # Far from certain, so that a sample would be another one now and then.
    state, keys = State(jnp.ones(1), jnp.ones((1, 1))), jax.random.split(jax.random.key(1), 40)
    sampled, surest = (
        jax.vmap(lambda key, who=who: who.sample(state, key=key))(keys) for who in (actor, Likeliest(actor))
    )
    assert len(np.unique(sampled, axis=0)) > 1
    np.testing.assert_array_equal(surest, np.broadcast_to(actor(state.features).mode(), surest.shape))

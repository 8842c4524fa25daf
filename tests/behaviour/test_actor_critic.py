"""What imagined trajectories teach, worked out by hand: weights, returns, both losses, and the slow critic."""

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.behaviour.actor_critic import BehaviourConfig, Imagined, Lesson, weights
from tests.behaviour.by_hand import FEATURES, WIDTH, behaviour, bins, with_outputs

CONFIG = BehaviourConfig(discount=0.9, lambda_=0.5, entropy=0.1, slow_regulariser=0.5, slow_decay=0.9)


def _grad(loss):
    return eqx.filter_jit(eqx.filter_grad(loss))


def two_steps(signal, cont=(0.8, 0.5), alive=1.0):
    return Imagined(
        jnp.zeros((3, 1, FEATURES)), jnp.array([[[1.0, 0]], [[0.0, 1]]]), jnp.array(signal)[:, None],
        jnp.array(cont)[:, None], jnp.array([alive]),
    )  # fmt: skip


def a_lesson(advantage=(2.0, -1.0), returns=(0.0, 0.0)):
    """Action 0, then action 1, at weights 1 and ½."""
    return Lesson(
        jnp.zeros((2, 1, FEATURES)), jnp.array([[[1.0, 0]], [[0.0, 1]]]), jnp.array(returns)[:, None],
        jnp.array(advantage)[:, None], jnp.array([[1.0], [0.5]]),
    )  # fmt: skip


def test_weights_by_hand():
    """1, then .8·.5 = .4, then .4·.8·.25 = .08; the last continuation is of a state that is not learned of."""
    cont = jnp.array([[0.5], [0.25], [0.9]])
    np.testing.assert_allclose(weights(jnp.array([1.0]), cont, 0.8)[:, 0], [1, 0.4, 0.08], rtol=1e-6)


def test_a_start_at_an_end_counts_nowhere():
    found = weights(jnp.array([1.0, 0.0]), jnp.ones((3, 2)), 0.8)
    np.testing.assert_allclose(found, [[1, 0], [0.8, 0], [0.64, 0]], rtol=1e-6)


def test_a_lesson_where_every_value_is_0():
    """R_1 = 2;  R_0 = 1 + .9·.8·.5·2 = 1.72.  The scale of such small returns is 1."""
    lesson, scale = behaviour(CONFIG).lesson(two_steps([1.0, 2.0]))
    np.testing.assert_allclose(lesson.returns[:, 0], [1.72, 2], atol=1e-4)
    np.testing.assert_allclose(lesson.advantage[:, 0], [1.72, 2], atol=1e-4)
    np.testing.assert_allclose(lesson.weight[:, 0], [1, 0.72], rtol=1e-6)
    assert lesson.features.shape == (2, 1, FEATURES)
    assert float(scale(1.0)) == 1.0


def test_a_lesson_where_every_value_is_1():
    """ln 2 = symlog 1 is 4.4015 bins above 0.

    R_1 = 2 + .9·.5·1 = 2.45;  R_0 = 1 + .9·.8 (.5·1 + .5·2.45) = 2.242;  advantages are 1 less.
    """
    share = math.log(2) / WIDTH - 4
    says = bins({4: math.log(1 - share), 5: math.log(share)}, rest=-100.0)
    lesson, _ = with_outputs(behaviour(CONFIG), "critic", says).lesson(two_steps([1.0, 2.0]))
    np.testing.assert_allclose(lesson.returns[:, 0], [2.242, 2.45], atol=1e-4)
    np.testing.assert_allclose(lesson.advantage[:, 0], [1.242, 1.45], atol=1e-4)


def test_large_returns_are_scaled():
    """R = (10 + .36·40, 40) = (24.4, 40): the percentiles are 25.18 and 39.22, and half of each is kept: S = 7.02."""
    config = BehaviourConfig(discount=0.9, lambda_=0.5, scale_decay=0.5)
    lesson, scale = behaviour(config).lesson(two_steps([10.0, 40.0]))
    np.testing.assert_allclose([scale.low, scale.high], [12.59, 19.61], rtol=1e-4)
    np.testing.assert_allclose(lesson.advantage[:, 0], [24.4 / 7.02, 40 / 7.02], rtol=1e-4)
    np.testing.assert_allclose(lesson.returns[:, 0], [24.4, 40], rtol=1e-4)


def test_the_loss_of_choices_by_hand():
    """π = .99 (1/4, 3/4) + .005 = (.2475 + .005, .7425 + .005)."""
    me = with_outputs(behaviour(CONFIG), "actor.net", jnp.array([0.0, math.log(3)]))
    left, right = 0.2525, 0.7475
    entropy = -(left * math.log(left) + right * math.log(right))
    first, second = 2 * math.log(left) + 0.1 * entropy, -1 * math.log(right) + 0.1 * entropy
    loss, said = me.actor_loss(a_lesson())
    assert float(loss) == pytest.approx(-(first + 0.5 * second) / 2, rel=1e-5)
    assert float(said) == pytest.approx(entropy, rel=1e-5)


def test_what_went_better_than_expected_becomes_likelier():
    """At π = (½, ½), d ln π(0) / d logit_0 = .99·¼ / ½ = .495; only the first row pays: -(2·.495) / 2."""
    me = behaviour(CONFIG)
    gradient = _grad(lambda me: me.actor_loss(a_lesson(advantage=(2.0, 0.0)))[0])(me)
    np.testing.assert_allclose(gradient.actor.net.out.bias, [-0.495, 0.495], rtol=1e-4)


def test_choices_have_no_gradient_through_the_advantage():
    gradient = jax.grad(lambda x: behaviour(CONFIG).actor_loss(a_lesson()._replace(advantage=x))[0])(jnp.ones((2, 1)))
    np.testing.assert_array_equal(gradient, 0)


def test_the_loss_of_continuous_actions_by_hand():
    """-(1·(2 + .1 H) + ½ (-1 + .1 H)) / 2 with H of two normals of deviation .1 + .9 σ(2); its gradient, -w/2."""
    me = behaviour(CONFIG, discrete=False)
    entropy = 2 * (math.log(0.1 + 0.9 / (1 + math.exp(-2))) + 0.5 * math.log(2 * math.pi * math.e))
    lesson = a_lesson()
    assert float(me.actor_loss(lesson)[0]) == pytest.approx(-(1.5 + 0.15 * entropy) / 2, rel=1e-5)
    gradient = jax.grad(lambda x: me.actor_loss(lesson._replace(advantage=x))[0])(lesson.advantage)
    np.testing.assert_allclose(gradient, [[-0.5], [-0.25]], rtol=1e-6)


def a_critic():
    """It gives the bin of 0 the logit 2 and the 4th above the logit 1; its slow copy is sure of the latter."""
    me = with_outputs(behaviour(CONFIG), "critic", bins({0: 2.0, 4: 1.0}))
    return with_outputs(me, "slow", bins({4: 0.0}, rest=-100.0))


def test_the_loss_of_the_critic_by_hand():
    """With Z = e² + e + 253: -ln p(R = 0) = ln Z - 2 and -ln p(slow) = ln Z - 1, the latter counted half."""
    log_z = math.log(math.e**2 + math.e + 253)
    assert float(a_critic().critic_loss(a_lesson())) == pytest.approx(0.75 * (1.5 * log_z - 2.5), rel=1e-4)


def test_only_the_critic_learns_by_its_loss():
    gradient = _grad(lambda me: me.critic_loss(a_lesson()))(a_critic())
    assert float(jnp.abs(gradient.critic.out.bias).max()) > 0.1
    for still in (gradient.slow, gradient.actor, gradient.scale):
        assert all(not np.any(leaf) for leaf in jax.tree.leaves(still))
    by_returns = jax.grad(lambda x: a_critic().critic_loss(a_lesson()._replace(returns=x)))(jnp.ones((2, 1)))
    np.testing.assert_array_equal(by_returns, 0)


def test_the_slow_critic_follows():
    """From 0 towards 1, a tenth of the way each time: .1, .19."""
    me = with_outputs(behaviour(CONFIG), "critic", bins({}, rest=1.0))
    once = me.follow()
    np.testing.assert_allclose(once.slow.out.bias, 0.1, rtol=1e-5)
    np.testing.assert_allclose(once.follow().slow.out.bias, 0.19, rtol=1e-5)
    np.testing.assert_array_equal(once.critic.out.bias, 1.0)

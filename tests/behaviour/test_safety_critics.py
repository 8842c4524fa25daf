"""The twin critics: targets by hand, never above one violation, and the lesser of the two believed."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from ambs.behaviour.actor_critic import BehaviourConfig
from ambs.behaviour.safety_critics import SafetyCritics, TwinLesson
from ambs.world_model.numbers import BINS, TwoHot
from ambs.world_model.sizes import SIZES


def critics(lambda_=1.0, bounded=True):
    config = BehaviourConfig(discount=0.9, lambda_=lambda_)
    return SafetyCritics(2, SIZES["debug"], config, most=10.0, bounded=bounded, key=jax.random.key(0))


def logits_of(value):
    """Logits whose two-hot mean is about `value`."""
    grid = np.array([float(TwoHot(jnp.asarray(20 * np.eye(BINS)[i], jnp.float32)).mean) for i in range(BINS)])
    return jnp.asarray(20 * np.eye(BINS)[np.abs(grid - value).argmin()], jnp.float32), grid[
        np.abs(grid - value).argmin()
    ]


def saying(me, part, first, second):
    (a, first), (b, second) = logits_of(first), logits_of(second)
    me = eqx.tree_at(lambda me: [net.out.bias for net in getattr(me, part)], me, [a, b])
    return me, first, second


def test_targets_follow_the_lesser_slow_copy_and_stop_at_violations():
    """λ = 1, two steps: c = (0, 10), the second state violates, so nothing beyond it counts: 0 + .9 × 10 = 9; and
    where nothing costs, only what lies beyond: .9 × .9 × the lesser."""
    me, low, _ = saying(critics(), "slow", 2.0, 5.0)
    cost, on = jnp.array([[0.0, 0.0], [10.0, 0.0]]), jnp.array([[1.0, 1.0], [0.0, 1.0]])
    found = np.asarray(me.lesson(jnp.zeros((3, 2, 2)), cost, on, jnp.ones((2, 2))).target)
    np.testing.assert_allclose(found[:, 0], [9.0, 10.0], rtol=1e-5)
    np.testing.assert_allclose(found[:, 1], [0.81 * low, 0.9 * low], rtol=1e-4)


def test_no_state_costs_more_than_one_violation():
    me, _, _ = saying(critics(), "slow", 50.0, 50.0)
    found = me.lesson(jnp.zeros((3, 1, 2)), jnp.full((2, 1), 10.0), jnp.ones((2, 1)), jnp.ones((2, 1)))
    np.testing.assert_allclose(found.target, 10.0)
    me, _, _ = saying(critics(), "twins", 50.0, 50.0)
    assert float(me.value(jnp.zeros(2))) == 10.0


def test_each_is_pulled_towards_its_own_slow_copy_of_the_states_that_are_left():
    me, first, second = saying(critics(), "slow", 2.0, 5.0)
    places = jnp.arange(6.0).reshape(3, 1, 2)
    found = me.lesson(places, jnp.zeros((2, 1)), jnp.ones((2, 1)), jnp.ones((2, 1)))
    np.testing.assert_allclose(found.anchors, np.broadcast_to([first, second], (2, 1, 2)), rtol=1e-3)
    np.testing.assert_array_equal(found.features, places[:-1])


def test_without_the_safety_discount_every_violation_counts():
    """λ = 1, two violations and 50 beyond: 10 + .9 × (10 + .9 × 50) = 59.5."""
    me, beyond, _ = saying(critics(bounded=False), "slow", 50.0, 50.0)
    ones = jnp.ones((2, 1))
    found = me.lesson(jnp.zeros((3, 1, 2)), 10.0 * ones, ones, ones).target
    np.testing.assert_allclose(found[:, 0], [19 + 0.81 * beyond, 10 + 0.9 * beyond], rtol=1e-4)
    me, value, _ = saying(critics(bounded=False), "twins", 50.0, 50.0)
    np.testing.assert_allclose(me.value(jnp.zeros(2)), value, rtol=1e-3)


def test_the_lesser_is_believed_unless_asked_for_the_greater():
    me, low, high = saying(critics(), "twins", 5.0, 2.0)
    np.testing.assert_allclose(me.value(jnp.zeros(2)), high, rtol=1e-3)
    np.testing.assert_allclose(me.value(jnp.zeros(2), pessimistic=True), low, rtol=1e-3)


def test_both_learn_and_the_slow_copies_follow():
    me = critics()
    lesson = TwinLesson(jnp.ones((1, 2)), jnp.array([9.0]), jnp.ones(1), jnp.zeros((1, 2)))
    gradient = eqx.filter_grad(lambda twins: eqx.tree_at(lambda me: me.twins, me, twins).loss(lesson))(me.twins)
    assert all(float(jnp.abs(net.out.bias).sum()) > 0 for net in gradient)
    moved = eqx.tree_at(lambda me: me.twins[0].out.bias, me, jnp.ones(BINS)).follow()
    np.testing.assert_allclose(moved.slow[0].out.bias, 0.02, rtol=1e-5)
    np.testing.assert_allclose(moved.slow[1].out.bias, 0.0)


def test_costs_that_come_by_chance_are_worth_their_mean_where_means_are_expected():
    """10 or nothing, as likely: 5; in symlog space √11 - 1 = 2.3."""
    config, optimiser = BehaviourConfig(discount=0.9), optax.adam(0.05)
    targets = jnp.array([[10.0, 0.0]])
    for expected, worth in ((True, 5.0), (False, 11**0.5 - 1)):
        me = SafetyCritics(2, SIZES["debug"], config, most=10.0, expected=expected, key=jax.random.key(0))
        assert float(me.value(jnp.zeros(2))) < 0.7, "to begin with, next to nothing"
        anchors = jnp.broadcast_to(targets[..., None], (1, 2, 2))
        lesson = TwinLesson(jnp.zeros((1, 2, 2)), targets, jnp.ones((1, 2)), anchors)

        def learn(carry, _, me=me, lesson=lesson):
            twins, state = carry
            gradient = jax.grad(lambda twins: eqx.tree_at(lambda me: me.twins, me, twins).loss(lesson))(twins)
            change, state = optimiser.update(gradient, state)
            return (optax.apply_updates(twins, change), state), None

        (twins, _), _ = jax.lax.scan(learn, (me.twins, optimiser.init(me.twins)), None, 600)
        found = eqx.tree_at(lambda me: me.twins, me, twins).value(jnp.zeros(2))
        np.testing.assert_allclose(found, worth, rtol=0.02)

"""The recursion worked by hand, and on a chain whose probabilities are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ambs.behaviour.safety_critics import CostLesson
from ambs.behaviour.violation_critic import Detour, ViolationCritic
from ambs.world_model.sizes import SIZES


def critic(steps, features=3):
    return ViolationCritic(features, steps, SIZES["debug"], decay=0.5, key=jax.random.key(0))


def says(me, *q):
    """A critic whose slow copy says q_1, q_2, … of every state: the hazards that multiply up to them, as logits."""
    survival = 1 - np.array([0.0, *q])
    hazard = 1 - survival[1:] / survival[:-1]
    return eqx.tree_at(lambda me: me.slow.out.bias, me, jnp.asarray(np.log(hazard / (1 - hazard)) + 4.6, jnp.float32))


def test_before_it_has_learned_a_violation_is_rare_and_never_rarer_further_on():
    q = np.asarray(critic(4)(jnp.ones((2, 3))))
    np.testing.assert_allclose(q[0], 1 - (1 / (1 + np.exp(-4.6))) ** np.arange(1, 5), rtol=1e-4)


def test_targets_by_hand():
    """Two steps: v = .1 then .5, both otherwise going on with .8 and .4; beyond, q = (.2, .3).

    From state 1: q_1 = .5, q_2 = .5 + .4 × .2 = .58. From state 0: q_1 = .1, q_2 = .1 + .8 × .5 = .5.
    """
    me = says(critic(2), 0.2, 0.3)
    found = me.targets(jnp.zeros((3, 1, 3)), jnp.array([[0.1], [0.5]]), jnp.array([[0.8], [0.4]]))
    np.testing.assert_allclose(found[:, 0], [[0.1, 0.5], [0.5, 0.58]], rtol=1e-5)


def test_where_a_detour_is_taken_its_target_counts():
    """As above, but in state 1 the policy would have gone elsewhere, to (.9, .95): of state 0, q_2 = .1 + .8 × .9."""
    me = says(critic(2), 0.2, 0.3)
    detour = Detour(jnp.array([[False], [True]]), jnp.array([[[0.0, 0.0]], [[0.9, 0.95]]]))
    found = me.targets(jnp.zeros((3, 1, 3)), jnp.array([[0.1], [0.5]]), jnp.array([[0.8], [0.4]]), detour)
    np.testing.assert_allclose(found[:, 0], [[0.1, 0.82], [0.9, 0.95]], rtol=1e-5)


def test_the_loss_is_least_where_it_is_right():
    lesson = CostLesson(jnp.zeros((1, 3)), jnp.array([[0.2, 0.3]]), jnp.ones(1))

    def loss(*q):
        me = critic(2)
        return float(eqx.tree_at(lambda me: me.net, me, says(me, *q).slow).loss(lesson))

    entropy = -np.mean([p * np.log(p) + (1 - p) * np.log(1 - p) for p in (0.2, 0.3)])
    np.testing.assert_allclose(loss(0.2, 0.3), entropy, rtol=1e-5)
    assert loss(0.2, 0.3) < min(loss(0.1, 0.3), loss(0.2, 0.4), loss(0.25, 0.3))


@pytest.mark.parametrize("sure", [10.0, 20.0, 40.0])
def test_who_was_sure_that_nothing_happens_learns_otherwise(sure):
    """Of q = σ(-sure) and a violation that is certain, -ln q falls by 1 - q for each unit of the logit."""
    lesson = CostLesson(jnp.zeros((1, 3)), jnp.ones((1, 1)), jnp.ones(1))
    me = critic(1)
    me = eqx.tree_at(lambda me: me.net.out.bias, me, jnp.asarray([4.6 - sure]))
    loss, gradient = eqx.filter_value_and_grad(lambda me: me.loss(lesson))(me)
    np.testing.assert_allclose(loss, np.log1p(np.exp(sure)), rtol=1e-4)
    np.testing.assert_allclose(gradient.net.out.bias, -1 / (1 + np.exp(-sure)), rtol=1e-4)


def test_who_is_surer_than_numbers_can_tell_is_still_a_number():
    lesson = CostLesson(jnp.zeros((1, 3)), jnp.full((1, 2), 0.5), jnp.ones(1))
    me = critic(2)
    me = eqx.tree_at(lambda me: me.net.out.bias, me, jnp.asarray([-300.0, -300.0]))
    for each in jax.tree.leaves(eqx.filter_value_and_grad(lambda me: me.loss(lesson))(me)):
        assert np.isfinite(each).all()


def test_it_learns_the_probabilities_of_a_chain():
    """Three states in a ring with hazards .02, .1 and .3 on entering; from each the next, or itself, by a coin."""
    hazard, kernel = np.array([0.02, 0.1, 0.3]), np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])
    exact, steps = [np.zeros(3)], 6
    for _ in range(steps):
        exact.append(kernel @ (hazard + (1 - hazard) * exact[-1]))
    optimiser = optax.adam(5e-3)
    me = critic(steps)
    state = optimiser.init(eqx.filter(me.net, eqx.is_array))
    cumulative = jnp.asarray(kernel.cumsum(axis=1))

    @eqx.filter_jit
    def learn(me, state, key):
        def walk(at, key):
            drawn = jax.random.uniform(key, (64, 1))
            at = jnp.sum(drawn >= cumulative[at], axis=1)
            return at, at

        first, rest = jax.random.split(key)
        start = jax.random.randint(first, (64,), 0, 3)
        # Shorter than what is asked for, so that the slow copy is needed.
        _, entered = jax.lax.scan(walk, start, jax.random.split(rest, 3))
        features = jax.nn.one_hot(jnp.concatenate([start[None], entered]), 3)
        v = jnp.asarray(hazard, jnp.float32)[entered]
        lesson = CostLesson(features[:-1], me.targets(features, v, 1 - v), jnp.ones((3, 64)))
        gradient = eqx.filter_grad(
            lambda net: jnp.mean(jax.vmap(eqx.tree_at(lambda me: me.net, me, net).loss)(lesson))
        )(me.net)
        changes, state = optimiser.update(gradient, state)
        return eqx.tree_at(lambda me: me.net, me, eqx.apply_updates(me.net, changes)).follow(), state

    for key in jax.random.split(jax.random.key(1), 600):
        me, state = learn(me, state, key)
    np.testing.assert_allclose(me(jnp.eye(3)), np.stack(exact[1:], axis=1), atol=0.03)

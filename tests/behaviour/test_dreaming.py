"""Gradients of behaviour: the same a row at a time as at once, and towards more of what is maximised."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.behaviour.actor_critic import ActorCritic, BehaviourConfig, Imagined, Lesson
from ambs.behaviour.dreaming import by_rows, gradients, roll_out
from ambs.shield.imagine import imagine
from ambs.types import Prediction
from ambs.world_model.model import WorldModel
from ambs.world_model.parts import Part
from ambs.world_model.rssm import State
from ambs.world_model.sizes import size
from tests.behaviour.by_hand import FEATURES, behaviour, with_outputs

# The scale of returns stays where it begins, at 1.
PLAIN = BehaviourConfig(discount=0.5, lambda_=1.0, entropy=0.0, scale_decay=1.0)
_create = eqx.filter_jit(ActorCritic)
_gradients = eqx.filter_jit(gradients)


@pytest.mark.parametrize("part", ["actor", "critic"])
def test_a_row_at_a_time_is_all_rows_at_once(part):
    keys = jax.random.split(jax.random.key(0), 5)
    me = _create(FEATURES, 3, size("debug"), BehaviourConfig(), discrete=True, key=keys[0])
    shape = (4, 5)
    lesson = Lesson(
        jax.random.normal(keys[1], (*shape, FEATURES)), jnp.eye(3)[jax.random.randint(keys[2], shape, 0, 3)],
        *(jax.random.normal(key, shape) for key in keys[3:]), jnp.linspace(0, 1, 20).reshape(shape),
    )  # fmt: skip
    loss = ActorCritic.actor_loss if part == "actor" else lambda me, row: (me.critic_loss(row), ())

    def net(me):
        return getattr(me, part)

    at_once = eqx.filter_value_and_grad(lambda one: loss(eqx.tree_at(net, me, one), lesson), has_aux=True)
    rows, at_once = eqx.filter_jit(lambda: (by_rows(loss, me, net, lesson), at_once(net(me))))()
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6), rows, at_once)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(rows[1])) > 0.01


class Track(eqx.Module):
    """h is a place on a line, and the last number of the action is how far to go."""

    def step(self, state, action, *, key):
        return State(state.h + action[..., -1:], state.z), Prediction(jnp.zeros(()), jnp.ones(()), {})


def along_the_track(steps, batch, key):
    """A dream on the track from 0, where the place is what is maximised."""
    starts = State(jnp.zeros((batch, 1)), jnp.ones((batch, 1, 1)))

    def dream(actor):
        keys = jax.random.split(key, batch)
        rolled = jax.vmap(lambda s, k: imagine(Track(), actor, s, steps, key=k), out_axes=1)(starts, keys)
        features = jnp.concatenate([starts.features[None], rolled.states.features])
        place = rolled.states.h[..., 0]
        return Imagined(features, rolled.actions, place, jnp.ones_like(place), jnp.ones(batch))

    return dream


def test_continuous_actions_go_where_the_signal_rises():
    """h_1 = a_0, h_2 = a_0 + a_1, so dh_k/dμ = k;  R_1 = h_2, R_0 = h_1 + ½ h_2, of weights ½ and 1:

    dloss/dμ = -(1·(1 + ½·2) + ½·2) / 2 = -1.5, and dμ/d(bias) = 1 - tanh² 0 = 1.
    """
    me = behaviour(PLAIN, actions=1, discrete=False)
    gradient, *_ = _gradients(me, along_the_track(2, 3, jax.random.key(0)))
    assert float(gradient.net.out.bias[0]) == pytest.approx(-1.5, rel=1e-3)
    after = with_outputs(me, "actor.net", -0.1 * gradient.net.out.bias)
    assert float(after.actor(jnp.zeros(FEATURES)).mean[0]) > 0.1


def test_choices_go_where_the_signal_rises():
    """One step, 1 for action 1: d ln π(1) / d logit_1 = .99·¼ / ½ = .495 in half of the dreams, so -.2475."""
    me = behaviour(PLAIN)
    taught = _gradients(me, along_the_track(1, 4096, jax.random.key(0)))
    gradient, metrics = taught.actor, taught.metrics
    np.testing.assert_allclose(gradient.net.out.bias, [0.2475, -0.2475], atol=0.02)
    assert float(metrics["return"]) == pytest.approx(0.5, abs=0.04)
    after = with_outputs(me, "actor.net", -gradient.net.out.bias)
    assert float(after.actor(jnp.zeros(FEATURES)).probs[1]) > 0.6


def test_the_gradient_through_a_world_model_is_that_of_differences():
    """A real model for one step, h's first number to be maximised: it depends on the action without any chance."""
    big, key = size("debug"), jax.random.key(0)
    model = eqx.filter_jit(WorldModel)((Part("", "binary", (3,)),), 1, big, key=key)
    starts, alive = model.rssm.initial((4,)), jnp.ones(4, bool)
    features = big.recurrent + big.variables * big.classes
    me = _create(features, 1, big, PLAIN, discrete=False, key=jax.random.key(1))

    def dream(actor):
        return roll_out(model, actor, starts, alive, 1, lambda seen: seen[..., 0], key=jax.random.key(2))

    @eqx.filter_jit
    def at(bias):
        return dream(eqx.tree_at(lambda net: net.net.out.bias, me.actor, bias)).signal.mean()

    bias, step = me.actor.net.out.bias, jnp.array([1e-2, 0.0])
    slope = float(at(bias + step) - at(bias - step)) / 2e-2
    gradient, *_ = _gradients(me, dream)
    assert abs(slope) > 1e-3
    assert float(gradient.net.out.bias[0]) == pytest.approx(-slope, rel=0.02)

"""What was really met counts where the task policy would have done the same, and only there."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from ambs.behaviour.actor import Actor
from ambs.behaviour.replayed import replayed
from ambs.behaviour.violation_critic import ViolationCritic
from ambs.world_model.model import Sequences, WorldModel
from ambs.world_model.parts import parts_of
from ambs.world_model.sizes import SIZES

SIZE = SIZES["debug"]
TIME, WITHIN = 4, 3
# What the critic says of every state before it has learned: a hundredth a step.
PRIOR = 1 - (1 / (1 + np.exp(-4.6))) ** np.arange(1, WITHIN + 1)
# The same one step shorter: what is left after a step in which nothing happened.
SHORTER = np.array([0.0, *PRIOR[:-1]])


def always(net, outputs):
    """A network that says this whatever it is told."""
    bias = jnp.broadcast_to(jnp.asarray(outputs, jnp.float32), net.out.bias.shape)
    return eqx.tree_at(lambda me: (me.out.weight, me.out.bias), net, (jnp.zeros_like(net.out.weight), bias))


@pytest.fixture(scope="module")
def parts():
    """A model that thinks nothing bad ever happens, a policy that (nearly) always plays 1, and a critic."""
    model = eqx.filter_jit(WorldModel)(
        parts_of(spaces.Box(0, 1, (2,), np.float32)), 2, SIZE, key=jax.random.key(0)
    )  # fmt: skip
    model = eqx.tree_at(
        lambda me: (me.safety, me.continuation),
        model, (always(model.safety, 30.0), always(model.continuation, 30.0)),
    )  # fmt: skip
    features = model.rssm.features
    actor = Actor(features, 2, SIZE, discrete=True, key=jax.random.key(1))
    actor = eqx.tree_at(lambda me: me.net, actor, always(actor.net, [-30.0, 30.0]))
    return model, actor, ViolationCritic(features, WITHIN, SIZE, decay=0.5, key=jax.random.key(2))


def lesson(parts, played, cost=(0, 0, 0, 10), first=(0, 0, 0, 0), terminal=(0, 0, 0, 0), copies=200):
    """Of sequences that are all the same; `played` led to each row."""
    model, actor, critic = parts
    rows = lambda values, dtype: jnp.broadcast_to(jnp.asarray(values, dtype), (copies, TIME))  # noqa: E731
    batch = Sequences(
        {"": jnp.zeros((copies, TIME, 2))}, jax.nn.one_hot(rows(played, int), 2), jnp.zeros((copies, TIME)),
        rows(cost, jnp.float32), rows(first, bool), rows(terminal, bool),
    )  # fmt: skip
    states = model.rssm.initial((copies, TIME))
    return eqx.filter_jit(replayed)(critic, model, actor, states, batch, key=jax.random.key(3))


def test_what_followed_the_policys_own_actions_is_the_target(parts):
    """A violation three steps after the first state, with everything played as the policy would."""
    found = lesson(parts, (1, 1, 1, 1))
    # One draw in 200 is another action: 1 % of the policy is uniform.
    np.testing.assert_allclose(
        jnp.median(found.target, axis=1), [[0, 0, 1], [0, 1, 1], [1, 1, 1]], atol=1e-5
    )  # fmt: skip
    np.testing.assert_array_equal(found.weight, 1.0)


def test_what_followed_other_actions_is_not_held_against_it(parts):
    """The violation came after an action that the policy would not play; of its own the model says they are safe."""
    found = lesson(parts, (0, 0, 0, 0))
    np.testing.assert_allclose(jnp.median(found.target, axis=1), np.tile(SHORTER, (3, 1)), rtol=1e-3, atol=1e-5)
    # Only the last step was another: those before it lead to a state of which the model tells.
    found = lesson(parts, (1, 1, 1, 0))
    np.testing.assert_allclose(
        jnp.median(found.target, axis=1), [[0, 0, 0], [0, 0, PRIOR[0]], SHORTER], rtol=1e-3, atol=1e-5
    )


def test_beyond_the_sequence_its_last_state_is_asked(parts):
    """States that differ, and a critic that tells them apart: of what lies beyond, the last one's word counts."""
    model, actor, critic = parts
    keys = jax.random.split(jax.random.key(4), 2)
    weight = 3 * jax.random.normal(keys[0], critic.slow.out.weight.shape)
    critic = eqx.tree_at(lambda me: (me.net.out.weight, me.slow.out.weight), critic, (weight, weight))
    start = model.rssm.initial((1, TIME))
    states = eqx.tree_at(lambda me: me.h, start, jax.random.normal(keys[1], start.h.shape))
    batch = Sequences(
        {"": jnp.zeros((1, TIME, 2))}, jax.nn.one_hot(jnp.ones((1, TIME), int), 2),
        *jnp.zeros((2, 1, TIME)), *jnp.zeros((2, 1, TIME), bool),
    )  # fmt: skip
    found = eqx.filter_jit(replayed)(critic, model, actor, states, batch, key=jax.random.key(5))
    said = np.asarray(critic(states.features))[0]
    # Nothing happens: q_k three steps before the end is q_{k-3} there.
    np.testing.assert_allclose(found.target[:, 0], [[0, 0, 0], [0, 0, said[-1, 0]], [0, *said[-1, :2]]], rtol=1e-4)
    assert abs(said[-1, 0] - said[:-1, 0]).min() > 1e-3


def test_the_share_that_counts_is_how_likely_the_policy_is_to_do_it(parts):
    """A policy that plays either with one half: half of the targets are what followed, half what is imagined."""
    model, actor, critic = parts
    even = eqx.tree_at(lambda me: me.net, actor, always(actor.net, [0.0, 0.0]))
    last = lesson((model, even, critic), (1, 1, 1, 1), copies=2000).target[-1, :, 0]
    assert set(np.unique(last)) == {0.0, 1.0}
    assert abs(float(last.mean()) - 0.5) < 0.04


def test_episodes_end_where_they_end(parts):
    """Nothing follows an end; and what the next episode begins with did not follow the last."""
    ended = lesson(parts, (1, 1, 1, 1), terminal=(0, 1, 0, 0), first=(0, 0, 1, 0))
    np.testing.assert_allclose(jnp.median(ended.target[0], axis=0), 0.0, atol=1e-6)
    np.testing.assert_array_equal(ended.weight[1], 0.0)
    cut = lesson(parts, (1, 1, 1, 1), cost=(0, 0, 10, 0), first=(0, 0, 1, 0))
    np.testing.assert_allclose(jnp.median(cut.target[1], axis=0), SHORTER, rtol=1e-3, atol=1e-5)

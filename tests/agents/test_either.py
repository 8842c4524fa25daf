"""The criterion either: an action passes if one of the two policies would keep the formula after it."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import ambs
from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, _either, decide, shield_of
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.shield.together import decide_together
from ambs.types import Decision
from ambs.world_model.parts import parts_of
from ambs.world_model.rssm import without_gradient


def decision(overridden, action, estimate, traces):
    overridden, estimate = jnp.asarray(overridden), jnp.asarray(estimate)
    return Decision(jnp.asarray(action), overridden, estimate, estimate - 0.1, estimate + 0.1, jnp.asarray(traces))


def test_the_second_opinion_counts_where_the_first_refused():
    """Four environments: passed by the first; refused by it and passed by the second; refused by both; not asked."""
    proposed, safe = [1.0, 0.0], [0.0, 1.0]
    first = decision([False, True, True, False], [proposed, safe, safe, proposed], [0.9, 0.2, 0.3, 1.0], [8, 16, 24, 8])
    second = decision([True, False, True, True], [safe, proposed, safe, safe], [0.0, 0.8, 0.1, 0.0], [0, 32, 40, 0])
    both = _either(first, second)
    assert both.overridden.tolist() == [False, False, True, False]
    assert both.action.tolist() == [proposed, proposed, safe, proposed]
    np.testing.assert_allclose(both.estimate, [0.9, 0.8, 0.3, 1.0])
    np.testing.assert_allclose(both.high, [1.0, 0.9, 0.4, 1.1])
    assert both.traces.tolist() == [8, 48, 64, 8]


HORIZON, LOOK_AHEAD, ENVS = 5, 9, 32


def in_doubt():
    """A learner whose task policy goes up and whose safe policy stays, and whose model finds some states dangerous, as
    its random weights have it."""
    small = cpu_learner("debug")
    small = dataclasses.replace(small, behaviour=dataclasses.replace(small.behaviour, horizon=HORIZON))
    parts = parts_of(ambs.make("conveyor").observation_space)
    create = eqx.filter_jit(Learner.create)
    made = create(parts, 5, with_safety(small, LOOK_AHEAD), discrete=True, key=jax.random.key(0))
    safe = made.model.safety.out
    return eqx.tree_at(
        lambda me: (
            me.task.actor.net.out.bias, me.safety.policy.actor.net.out.bias,
            me.model.safety.out.weight, me.model.safety.out.bias,
        ),
        made,
        (
            50 * jnp.eye(5)[0], 50 * jnp.eye(5)[4],
            8 * jax.random.normal(jax.random.key(1), safe.weight.shape), jnp.full(safe.bias.shape, 5.5),
        ),
    )  # fmt: skip


def test_an_action_passes_exactly_if_one_of_the_two_shields_lets_it_pass():
    learner, key = in_doubt(), jax.random.key(2)
    start = learner.model.rssm.initial((ENVS,))
    proposed = jax.nn.one_hot(jnp.arange(ENVS) % 5, 5)
    states = jax.vmap(learner.model.rssm.imagine)(start, proposed[::-1], key=jax.random.split(key, ENVS))
    both = eqx.filter_jit(decide)(learner, ShieldConfig("either"), HORIZON, LOOK_AHEAD, states, proposed, key=key)
    keys = jax.vmap(jax.random.split)(jax.random.split(key, ENVS)).swapaxes(0, 1)
    recover, rollout = (
        decide_together(
            shield_of(learner, ShieldConfig(criterion), HORIZON, LOOK_AHEAD), without_gradient(states), proposed, mine
        )
        for criterion, mine in zip(("recover", "rollout"), keys, strict=True)
    )
    second = recover.overridden & ~rollout.overridden
    # All that can be is among them: passed by the first, by the second alone, and by none.
    kinds = [(~recover.overridden).sum(), second.sum(), (recover.overridden & rollout.overridden).sum()]
    assert min(kinds) > 2, kinds
    np.testing.assert_array_equal(both.overridden, recover.overridden & rollout.overridden)
    np.testing.assert_array_equal(both.action, jnp.where(second[:, None], proposed, recover.action))
    for name in ("estimate", "low", "high"):
        one, other = getattr(recover, name), getattr(rollout, name)
        np.testing.assert_array_equal(getattr(both, name), jnp.where(second, other, one))
    np.testing.assert_array_equal(both.traces, recover.traces + jnp.where(recover.overridden, rollout.traces, 0))

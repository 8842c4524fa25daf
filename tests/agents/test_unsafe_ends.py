"""What the task policy hopes for beyond a violation: as much as ever, or nothing."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.agents.learner import Learner, LearnerConfig, _learn_behaviour
from ambs.agents.safety import SafetyConfig
from ambs.behaviour.actor_critic import BehaviourConfig
from tests.agents.test_safety_discount import ACTIONS, doomed

CONFIG = LearnerConfig(size="debug", behaviour=BehaviourConfig(horizon=3), safety=SafetyConfig(look_ahead=5))


@pytest.fixture(scope="module")
def taught():
    """By a dream in which every state is a violation, for a critic that expects much of all of them."""
    model = doomed()
    starts, alive = model.rssm.initial((2,)), jnp.ones(2, bool)

    def after(config):
        learner = Learner.create(
            model.parts, ACTIONS, dataclasses.replace(config, safety=None), discrete=True, key=jax.random.key(0)
        )
        hopes = jnp.where(jnp.arange(255) == 141, 30.0, 0.0)
        learner = eqx.tree_at(lambda me: (me.model, me.task.critic.out.bias), learner, (model, hopes))
        return eqx.filter_jit(_learn_behaviour)(learner, starts, alive, config, key=jax.random.key(1))[2]

    safety = dataclasses.replace(CONFIG.safety, unsafe_ends=True)
    return after(CONFIG), after(dataclasses.replace(CONFIG, safety=safety))


def test_nothing_is_hoped_for_beyond_a_violation(taught):
    blind, aware = taught
    assert blind.metrics["return"] > 1
    # No reward is predicted yet, and the states that follow do not count.
    assert abs(aware.metrics["return"]) < 1e-3


def test_those_who_learn_after_it_are_told_what_really_goes_on(taught):
    blind, aware = taught
    for name in ("cont", "actions", "signal"):
        np.testing.assert_array_equal(getattr(blind.imagined, name), getattr(aware.imagined, name))
    assert aware.imagined.cont.min() > 0.1

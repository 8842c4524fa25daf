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
from ambs.behaviour.penalties.base import Penalised, PenaltyConfig
from ambs.errors import AmbsError
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

    def told(share):
        safety = dataclasses.replace(CONFIG.safety, unsafe_ends=True, unsafe_share=share)
        return after(dataclasses.replace(CONFIG, safety=safety))

    return after(CONFIG), told(1.0), told(0.25)


def test_nothing_is_hoped_for_beyond_a_violation(taught):
    blind, aware, _ = taught
    assert blind.metrics["return"] > 1
    # No reward is predicted yet, and the states that follow do not count.
    assert abs(aware.metrics["return"]) < 1e-3


def test_or_only_some_of_it(taught):
    """No reward, the same hopes of every state, and of each violation three quarters of them are left."""
    blind, _, partly = taught

    def worth(left):
        """λ-returns of three steps in units of what the critic hopes for, γ .997, λ .95."""
        value, found = 1.0, []
        for cont in np.asarray(blind.imagined.cont)[::-1]:
            value = 0.997 * left * cont * (0.05 + 0.95 * value)
            found.append(value)
        return np.mean(found)

    ratio = float(partly.metrics["return"] / blind.metrics["return"])
    assert ratio == pytest.approx(worth(0.75) / worth(1.0), rel=1e-3)


def test_a_penalty_is_told_what_really_goes_on(taught, monkeypatch):
    blind, *_ = taught
    safety = dataclasses.replace(CONFIG.safety, unsafe_ends=True, penalty=PenaltyConfig("plpg"))

    def listening(safety, model, config, lesson, imagined):
        return Penalised(lesson.advantage, safety.cost_scale, {"cont": imagined.cont})

    monkeypatch.setattr("ambs.agents.learner.penalised", listening)
    model = doomed()
    config = dataclasses.replace(CONFIG, safety=safety)
    learner = Learner.create(model.parts, ACTIONS, config, discrete=True, key=jax.random.key(0))
    learner = eqx.tree_at(lambda me: me.model, learner, model)
    starts, alive = model.rssm.initial((2,)), jnp.ones(2, bool)
    told = _learn_behaviour(learner, starts, alive, config, key=jax.random.key(1))[2].besides.metrics["cont"]
    np.testing.assert_allclose(told, blind.imagined.cont, rtol=1e-6)


@pytest.mark.parametrize("share", [0.0, 1.5, float("nan")])
def test_shares_that_are_none(share):
    with pytest.raises(AmbsError, match="more than 0 and at most 1"):
        SafetyConfig(unsafe_share=share)


def test_those_who_learn_after_it_are_told_what_really_goes_on(taught):
    blind, *aware = taught
    for each in aware:
        for name in ("cont", "actions", "signal"):
            np.testing.assert_array_equal(getattr(blind.imagined, name), getattr(each.imagined, name))
        assert each.imagined.cont.min() > 0.1

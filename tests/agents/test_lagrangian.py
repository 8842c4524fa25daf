"""LAG: what the constraint does to a lesson, by hand, and what a gradient step of it changes."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.agents.lagrangian import Lagrangian, LagrangianConfig, constrained
from ambs.agents.learner import LearnerConfig
from ambs.agents.safety import SafetyConfig
from ambs.behaviour.actor_critic import BehaviourConfig, Imagined, Lesson
from ambs.behaviour.multipliers import Multipliers
from ambs.world_model.sizes import size

BEHAVIOUR = BehaviourConfig(discount=0.9, lambda_=0.5)
CONFIG = LagrangianConfig(lagrange=0.5, penalty=0.1, power=0.5, threshold=2.0)


class Told:
    """A model that says of a state what its first two numbers are: what it costs, and whether it is safe."""

    def predict_cost(self, features):
        return features[..., 0]

    def predict_safe(self, features):
        return features[..., 1]


def dream(cost):
    """One step twice from a safe state: into a safe one, and into one that breaks the formula."""
    features = jnp.zeros((2, 2, 3)).at[:, :, 1].set(1.0).at[1, 1].set(jnp.array([cost, 0.0, 0.0]))
    return Imagined(features, jnp.eye(2)[None], jnp.zeros((1, 2)), jnp.ones((1, 2)), jnp.ones(2))


def taught():
    """The second action pays more."""
    none = jnp.zeros((1, 2))
    return Lesson(jnp.zeros((1, 2, 3)), jnp.eye(2)[None], none, jnp.array([[1.0, 2.0]]), none + 1)


@pytest.fixture(scope="module")
def made():
    return eqx.filter_jit(Lagrangian.create)(3, size("debug"), BEHAVIOUR, CONFIG, key=jax.random.key(0))


def test_the_advantage_and_the_multipliers_by_hand(made):
    """Critics that say 0: R^C = (0, 10), J^C = 5, g = 3, w = .5 + .1 · 3 = .8; A' = (A - .8 R^C) / 1.8."""
    lesson = Lesson(
        jnp.zeros((1, 2, 3)), jnp.eye(2)[None], jnp.zeros((1, 2)), jnp.array([[1.0, 2.0]]), jnp.ones((1, 2))
    )
    after, (me, metrics) = constrained(made, Told(), CONFIG, lesson, dream(10.0))
    np.testing.assert_allclose(after.advantage[0], [1 / 1.8, (2 - 8) / 1.8], rtol=1e-4)
    assert (float(me.multipliers.lagrange), float(me.multipliers.penalty)) == pytest.approx((0.8, 0.15))
    assert float(metrics["lagrangian/excess"]) == pytest.approx(3.0, rel=1e-4)
    np.testing.assert_array_equal(after.returns, lesson.returns)


def test_a_constraint_that_holds_counts_nothing(made):
    free = eqx.tree_at(lambda me: me.multipliers, made, Multipliers.start(0.0, 0.1))
    lesson = Lesson(
        jnp.zeros((1, 2, 3)), jnp.eye(2)[None], jnp.zeros((1, 2)), jnp.array([[1.0, 2.0]]), jnp.ones((1, 2))
    )
    after, (me, _) = constrained(free, Told(), CONFIG, lesson, dream(1.0))
    np.testing.assert_array_equal(after.advantage, lesson.advantage)
    assert float(me.multipliers.lagrange) == 0


def test_the_papers_threshold_is_the_cost_of_a_violation_in_thirty_steps():
    assert LagrangianConfig().allowed(0.997) == pytest.approx(10 * 0.997**30)
    assert LagrangianConfig(threshold=0.0).allowed(0.997) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"threshold": 10.0}, "below 10"),
        ({"threshold": -1.0}, "cost threshold is -1"),
        ({"penalty": 0.0}, "penalty multiplier is 0"),
        ({"lagrange": -0.1}, "Lagrange multiplier is -0.1"),
        ({"power": float("nan")}, "penalty power is nan"),
        ({"look_ahead": 0}, "look-ahead"),
    ],
)
def test_mistakes(options, words):
    with pytest.raises(AmbsError, match=words):
        LagrangianConfig(**options)


def test_a_learner_has_one_or_the_other():
    with pytest.raises(AmbsError, match="leave safety or lagrangian out"):
        dataclasses.replace(LearnerConfig(), safety=SafetyConfig(), lagrangian=LagrangianConfig())

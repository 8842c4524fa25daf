"""Parts that do not fit together, and numbers that are not in the table: one sentence each, and nothing is clamped."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs import AmbsError, FormulaError, ModelError
from ambs.shield import CostCriterion, NumpyPolicy, ShieldWrapper
from ambs.types import Prediction
from tests.shield.test_lookahead import BACKUP, FORMULA, TASK, A, hazard_model

KEY = jax.random.key(0)


def one_sentence(error):
    assert "\n" not in str(error.value)


class TestTests:
    """A test without p0 is held to the formula at δ = .01."""

    @pytest.mark.parametrize(
        ("threshold", "test", "rate"),
        [
            ("0.999", ambs.Fixed(64, 60), "0.9"),
            ("0.99", ambs.Fixed.paper(), "0.0254"),
            ("0.975", ambs.Fixed(), "0.0254"),
        ],
    )
    def test_one_that_is_too_lax_is_refused(self, threshold, test, rate):
        with pytest.raises(FormulaError, match=rf"from {rate}\d* on \(at delta = 0.01\).*tolerates only") as error:
            ambs.LookaheadShield(hazard_model(0.1), TASK, BACKUP, f"P>={threshold} [ G<=5 !acid ]", test)
        one_sentence(error)

    @pytest.mark.parametrize(
        ("threshold", "test"),
        [
            ("0.9", ambs.Fixed.paper()),
            ("0.97", ambs.Fixed.paper(batch=32)),
            ("0.9", ambs.Fixed.smallest(0.1, 0.01, 3)),
            # Whoever names a δ of their own is taken at their word.
            ("0.9", ambs.Ladder.design(0.1, 0.2)),
        ],
    )
    def test_one_that_is_strict_enough_is_not(self, threshold, test):
        formula = f"P>={threshold} [ G<=5 !acid ]"
        assert ambs.LookaheadShield(hazard_model(0.1), TASK, BACKUP, formula, test).test == test


class TestCosts:
    def kernel(self):
        """State 0 falls into state 1 with probability a half."""
        return np.array([[[0.5, 0.5]], [[0, 1]]])

    def shield(self, model, formula="P>=0.9 [ G<=15 !acid ]", horizon=15):
        policy = ambs.TabularPolicy(np.ones((2, 1)))
        return ambs.LookaheadShield(model, policy, policy, formula, A, criterion=CostCriterion(horizon, horizon))

    def test_a_model_without_costs_is_not_judged_by_them(self):
        with pytest.raises(ModelError, match="has no costs") as error:
            self.shield(ambs.TabularModel(self.kernel(), {"acid": [False, True]}))
        one_sentence(error)
        simulator = ambs.NumpyModel(lambda s, a, n: (s, {"acid": s > 3}, s == s), ["acid"])
        with pytest.raises(ModelError, match="has no costs"):
            self.shield(simulator)

    def test_one_with_costs_is(self):
        model = ambs.TabularModel(self.kernel(), {"acid": [False, True]}, cost=[0, 10])
        assert bool(self.shield(model)(0, 0, key=KEY).overridden)

    @pytest.mark.parametrize(
        "formula", ["P>=0.9 [ G<=30 !acid ]", "P>=0.9 [ F<=15 !acid ]", "P>=0.9 [ G[2,15] !acid ]"]
    )
    def test_the_horizon_is_that_of_the_formula(self, formula):
        model = ambs.TabularModel(self.kernel(), {"acid": [False, True]}, cost=[0, 10])
        with pytest.raises(FormulaError, match="the cost of 15 steps.*not of the form") as error:
            self.shield(model, formula)
        one_sentence(error)


class TestTables:
    """Two states, two actions: what lies beyond is not read as what lies at the edge."""

    shield = ambs.LookaheadShield(hazard_model(0.02), TASK, BACKUP, FORMULA, A)

    @pytest.mark.parametrize(
        ("state", "action", "message"),
        [
            (0, 7, "the action is 7, and has to be a whole number from 0 to 1"),
            (99, 0, "the state is 99, and has to be a whole number from 0 to 1"),
            (-1, 0, "the state is -1"),
            (0, np.int64(-1), "the action is -1"),
            (jnp.asarray(2), 0, "the state is 2"),
            (0.0, 0, "the state is 0.0"),
            (0, True, "the action is True"),
        ],
    )
    def test_numbers_that_are_not_in_it(self, state, action, message):
        with pytest.raises(AmbsError, match=message) as error:
            self.shield(state, action, key=KEY)
        one_sentence(error)
        classical = ambs.ClassicalShield(
            ambs.FiniteModel.mdp(np.full((2, 2, 2), 0.5), {"acid": [False, True]}), FORMULA
        )
        with pytest.raises(AmbsError, match=message):
            classical(state, action)

    def test_a_wrong_kind_is_told_inside_jit_too(self):
        with pytest.raises(AmbsError, match="state is of type float32"):
            jax.jit(lambda state: self.shield(state, 0, key=KEY))(0.5)

    @pytest.mark.parametrize(
        ("task", "backup", "message"),
        [
            (ambs.TabularPolicy(np.ones((1, 1))), BACKUP, "the task policy has 1 states, and the model has 2"),
            (TASK, ambs.TabularPolicy(np.eye(5)), "the backup policy has 5 states, and the model has 2"),
            (TASK, ambs.TabularPolicy.greedy([0, 0], 3), "the backup policy has 3 actions, and the model has 2"),
            (NumpyPolicy(lambda s: np.ones((len(s), 1)), 1), BACKUP, "the task policy has 1 actions"),
        ],
    )
    def test_policies_of_another_size(self, task, backup, message):
        with pytest.raises(ModelError, match=message):
            ambs.LookaheadShield(hazard_model(0.02), task, backup, FORMULA, A)


class TestBatches:
    """A batch without vmap is told to use it, whatever the model."""

    def test_of_a_table(self):
        states = np.zeros(5, int)
        with pytest.raises(AmbsError, match=r"state has shape \(5,\).*jax.vmap, with one key a state") as error:
            TestTables.shield(states, states, key=KEY)
        one_sentence(error)
        with pytest.raises(AmbsError, match=r"action has shape \(5,\).*jax.vmap"):
            TestTables.shield(0, states, key=KEY)
        with pytest.raises(AmbsError, match="there are 5 keys.*jax.vmap"):
            TestTables.shield(0, 0, key=jax.random.split(KEY, 5))

    def test_of_a_simulator(self):
        model = ambs.NumpyModel(
            lambda s, a, n: (s, {"far": s[:, 0] > 3}, s[:, 0] == s[:, 0]), ["far"], state_shape=(2,)
        )
        policy = NumpyPolicy(lambda s: np.ones((len(s), 1)), 1, (2,))
        shield = ambs.LookaheadShield(model, policy, policy, "P>=0.9 [ G<=4 !far ]", A)
        with pytest.raises(AmbsError, match=r"takes states of shape \(2,\), not \(5, 2\).*jax.vmap"):
            shield(jnp.zeros((5, 2)), jnp.zeros(5, int), key=KEY)
        assert not bool(shield(jnp.zeros(2), 0, key=KEY).overridden)

    def test_of_any_model(self):
        class Drift(ambs.NoShield):
            def step(self, state, action, *, key):
                following = state + action
                return following, Prediction(0.0 * following, 1.0 + 0.0 * following, {"far": following > 3})

            def sample(self, state, *, key):
                return jnp.ones_like(state)

        shield = ambs.LookaheadShield(Drift(), Drift(), Drift(), "P>=0.9 [ G<=4 !far ]", A)
        with pytest.raises(AmbsError, match=r"cost of shape \(5,\).*jax.vmap"):
            shield(jnp.zeros(5), jnp.ones(5), key=KEY)
        together = jax.vmap(lambda state, key: shield(state, 1.0, key=key))(
            jnp.arange(-2.0, 3), jax.random.split(KEY, 5)
        )
        assert together.overridden.tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("seed", [-1, 2**32, 2**64, 0.5, "1"])
def test_seeds_that_jax_would_fold_or_refuse(seed):
    env = ambs.envs.Conveyor("small", observation="state")
    with pytest.raises(AmbsError, match="the seed is") as error:
        ShieldWrapper(env, ambs.NoShield(), seed=seed)
    one_sentence(error)
    with pytest.raises(AmbsError, match="the seed is"):
        ShieldWrapper(env, ambs.NoShield()).reset(seed=seed)
    ShieldWrapper(env, ambs.NoShield(), seed=np.uint32(2**32 - 1)).reset(seed=2**32 - 1)

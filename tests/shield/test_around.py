"""What stands around the look-ahead shield: the wrapper, other people's models, and the two ends to compare with."""

import gymnasium
import jax
import numpy as np
import pytest

import ambs
from ambs import AmbsError, FormulaError, ModelError
from ambs.envs import Conveyor
from ambs.shield import ClassicalShield, NumpyModel, NumpyPolicy, PrescienceShield
from ambs.tabular import safety_values

LONG_BELT = ["S.>>>A", "......", "G....."]


def conveyor_shield(env: Conveyor, steps: int) -> ambs.LookaheadShield:
    finite = env.mdp()
    kernel = finite.kernel.toarray().reshape(finite.states, 5, finite.states)
    model = ambs.TabularModel(kernel, finite.labels)
    right = ambs.TabularPolicy.greedy(np.full(finite.states, 1), 5)
    safest = safety_values(kernel, ~finite.labels["acid"], 30).argmax(axis=1)
    backup = ambs.TabularPolicy.greedy(safest, 5)
    return ambs.LookaheadShield(model, right, backup, f"P>=0.9 [ G<={steps} !acid ]", ambs.Ladder.level("A"))


@pytest.mark.parametrize(("steps", "falls"), [(2, True), (6, False)])
def test_the_wrapper_keeps_the_robot_off_the_belt_if_it_looks_far_enough(steps, falls):
    """Always right: onto the belt, and three cells later into acid; a look-ahead of 2 sees it too late."""
    base = Conveyor(LONG_BELT, slip=0.0, observation="state")
    env = ambs.ShieldWrapper(base, conveyor_shield(base, steps))
    env.reset(seed=0)
    acid = overridden = 0
    for _ in range(12):
        _, _, _, _, info = env.step(1)
        acid += info["labels"]["acid"]
        overridden += info["shield"]["overridden"]
        assert info["shield"]["proposed"] == 1
        assert 0 <= info["shield"]["low"] <= info["shield"]["estimate"] <= info["shield"]["high"] <= 1
    assert (acid > 0) == falls
    assert overridden > 0


def test_the_wrapper_is_reproducible_and_wants_a_reset():
    base = gymnasium.make("ambs:Conveyor-v0", observation="state")
    env = ambs.ShieldWrapper(base, conveyor_shield(base.unwrapped, 10))
    with pytest.raises(AmbsError, match="reset"):
        env.step(0)
    runs = []
    for _ in range(2):
        env.reset(seed=3)
        runs.append([env.step(1)[4]["shield"]["estimate"] for _ in range(10)])
    assert runs[0] == runs[1]


def test_the_model_state_may_come_from_elsewhere():
    base = Conveyor(LONG_BELT, slip=0.0, observation="image")
    env = ambs.ShieldWrapper(base, conveyor_shield(base, 6), lambda observation, info: info["state"])
    env.reset(seed=0)
    assert env.step(1)[4]["shield"]["traces"] >= 16


class TestNumpy:
    """A random walk on the line, in NumPy: unsafe from 3 on."""

    @staticmethod
    def step(states, actions, noise):
        following = states + np.where(noise[:, 0] < 0.5, 1, -1) * actions
        return following, {"far": following >= 3}, np.ones(len(states), bool)

    def test_estimates_agree_with_model_checking(self):
        model = NumpyModel(self.step, ["far"], dtype="int32")
        one = NumpyPolicy(lambda states: np.tile([0.0, 1.0], (len(states), 1)), actions=2)
        shield = ambs.LookaheadShield(model, one, one, "P>=0.9 [ G<=4 !far ]", ambs.Fixed(2000, 100))
        estimate = float(shield(0, 1, key=jax.random.key(0)).estimate)
        walk = np.zeros((9, 9))
        for i in range(1, 8):
            walk[i, [i - 1, i + 1]] = 0.5
        walk[0, 0] = walk[8, 8] = 1
        chain = ambs.FiniteModel.chain(walk, {"far": np.arange(9) >= 7})
        exact = ambs.check(chain, ambs.parse("P=? [ G<=4 !far ]")).values[4]
        assert estimate == pytest.approx(exact, abs=0.05)

    def test_works_under_vmap(self):
        model = NumpyModel(self.step, ["far"], dtype="int32")
        one = NumpyPolicy(lambda states: np.tile([0.0, 1.0], (len(states), 1)), actions=2)
        shield = ambs.LookaheadShield(model, one, one, "P>=0.9 [ G<=4 !far ]", ambs.Ladder.level("A"))
        states = jax.numpy.array([-50, 2])
        keys = jax.random.split(jax.random.key(0), 2)
        decisions = jax.vmap(lambda state, key: shield(state, 1, key=key))(states, keys)
        assert decisions.overridden.tolist() == [False, True]

    def test_an_atom_that_the_simulator_does_not_have_is_named(self):
        model = NumpyModel(self.step, ["far"], dtype="int32")
        one = NumpyPolicy(lambda states: np.ones((len(states), 1)), actions=1)
        with pytest.raises(FormulaError, match='no atom "near"'):
            ambs.LookaheadShield(model, one, one, "P>=0.9 [ G<=4 !near ]")

    def test_a_simulator_that_returns_nonsense_is_told(self):
        model = NumpyModel(lambda s, a, n: (s[:, None], {}, s), ["far"])
        with pytest.raises(ModelError, match="no label far"):
            model._call(np.zeros(3), np.zeros(3), np.zeros((3, 1)))


class TestClassical:
    def test_decides_by_the_exact_probability(self):
        mdp = Conveyor("figure1").mdp()
        shield = ClassicalShield(mdp, "P>=0.9 [ G<=30 !acid ]")
        kernel = mdp.kernel.toarray().reshape(mdp.states, 5, mdp.states)
        exact = safety_values(kernel, ~mdp.labels["acid"], 30)
        np.testing.assert_allclose(shield.safety, exact, atol=1e-6)
        for state in range(mdp.states):
            for action in range(5):
                decision = shield(state, action)
                assert bool(decision.overridden) == (exact[state, action] < 0.9)
                if bool(decision.overridden):
                    assert exact[state, int(decision.action)] == pytest.approx(exact[state].max())

    def test_takes_only_bounded_safety(self):
        with pytest.raises(FormulaError, match="G<=n"):
            ClassicalShield(Conveyor("small").mdp(), "P>=0.9 [ F<=30 goal ]")


class TestPrescience:
    def test_finds_the_way_out_only_if_it_looks_far_enough(self):
        """On the cell before the belt: depth 3 sees no acid, depth 4 does, and plays another action."""
        env = Conveyor(LONG_BELT, slip=0.0, observation="state")
        env.reset(seed=0)
        env.step(1)
        assert not PrescienceShield(env, range(5), depth=3)(None, 1).overridden
        before = env.get_state()
        decision = PrescienceShield(env, range(5), depth=4)(None, 1)
        assert decision.overridden
        assert decision.action != 1
        assert decision.traces > 4
        assert env.get_state().state == before.state

    def test_plays_the_proposed_action_when_nothing_helps(self):
        env = Conveyor(LONG_BELT, slip=0.0, observation="state")
        env.reset(seed=0)
        for _ in range(2):
            env.step(1)
        decision = PrescienceShield(env, range(5), depth=5)(None, 2)
        assert (decision.action, bool(decision.overridden), decision.estimate) == (2, False, 0.0)

    def test_depth_is_at_least_one(self):
        with pytest.raises(AmbsError, match="depth is 0"):
            PrescienceShield(Conveyor("small"), range(5), depth=0)

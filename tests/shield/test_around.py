"""What stands around the look-ahead shield: the wrapper, other people's models, and the exact shield beside it."""

import gymnasium
import jax
import numpy as np
import pytest

import ambs
from ambs import AmbsError, FormulaError, ModelError
from ambs.envs import Conveyor
from ambs.shield import ClassicalShield, NumpyModel, NumpyPolicy, imagine
from ambs.shield.callbacks import original_errors
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

    @pytest.mark.parametrize(
        ("step", "dtype", "message"),
        [
            (lambda s, a, n: (s, {}, s == s), "float32", "returned no label far"),
            (lambda s, a, n: (s[:, None], {"far": s > 3}, s == s), "float32", r"states of shape \(1, 1\)"),
            (lambda s, a, n: (s * np.nan, {"far": s > 3}, s == s), "float32", "without NaN"),
            # Casting it to a whole number would hide it.
            (lambda s, a, n: (s * np.nan, {"far": s > 3}, s == s), "int32", "without NaN"),
            (lambda s, a, n: (s, {"far": False}, s == s), "float32", r"the label far of shape \(\)"),
            (lambda s, a, n: (s, {"far": s * np.nan}, s == s), "float32", "the label far of shape"),
            (lambda s, a, n: (s, {"far": s > 3}, True), "float32", r"going on of shape \(\)"),
        ],
    )
    def test_a_simulator_that_returns_nonsense_is_told(self, step, dtype, message):
        with pytest.raises(ModelError, match=message) as error:
            NumpyModel(step, ["far"], dtype=dtype).step(jax.numpy.asarray(0.0), 0, key=jax.random.key(0))
        assert "\n" not in str(error.value)

    @pytest.mark.parametrize(
        ("probabilities", "message"),
        [
            ([-1.0, 2.0], "negative"),
            ([np.nan, 1.0], "NaN"),
            ([0.5, 0.6], "sum to 1"),
            ([0.2, 0.3, 0.5], r"shape \(1, 3\), and for 1 states and 2 actions that has to be \(1, 2\)"),
        ],
    )
    def test_a_policy_that_returns_nonsense_is_told(self, probabilities, message):
        task = NumpyPolicy(lambda states: np.tile(probabilities, (len(states), 1)), actions=2)
        with pytest.raises(ModelError, match=message) as error:
            task.sample(jax.numpy.asarray(0), key=jax.random.key(0))
        assert "\n" not in str(error.value)

    def test_nonsense_is_told_through_the_shield_too(self):
        model = NumpyModel(self.step, ["far"], dtype="int32")
        good = NumpyPolicy(lambda states: np.tile([1.0, 0.0], (len(states), 1)), actions=2)
        bad = NumpyPolicy(lambda states: np.tile([-1.0, 2.0], (len(states), 1)), actions=2)
        silent = NumpyModel(lambda s, a, n: (s, {}, s == s), ["far"], dtype="int32")
        for parts, message in (
            ((silent, good, good), "the simulator's step returned no label far"),
            ((model, bad, good), "the policy's probabilities are negative"),
            # A backup is asked where it takes over: here nothing is near enough.
            (
                (NumpyModel(lambda s, a, n: (s, {"far": s == s}, s == s), ["far"], dtype="int32"), good, bad),
                "the policy's probabilities are negative",
            ),
        ):
            shield = ambs.LookaheadShield(*parts, "P>=0.9 [ G<=4 !far ]", ambs.Ladder.level("A"))
            with pytest.raises(ModelError, match=message) as error:
                shield(0, 1, key=jax.random.key(0))
            assert "\n" not in str(error.value)

    def test_the_users_own_error_comes_out_as_it_was_raised(self):
        """Wherever the simulator is called: by the shield, vmapped, by `imagine`, by a wrapper, or directly."""

        def step(states, actions, noise):
            raise KeyError("no such cart")

        model = NumpyModel(step, ["far"])
        one = NumpyPolicy(lambda states: np.ones((len(states), 1)), actions=1)
        shield = ambs.LookaheadShield(model, one, one, "P>=0.9 [ G<=4 !far ]", ambs.Ladder.level("A"))
        key = jax.random.key(0)
        compiled = jax.jit(lambda state, proposed, *, key: shield(state, proposed, key=key))
        env = ambs.ShieldWrapper(Conveyor("small"), compiled, lambda observation, info: 0.0)
        env.reset(seed=0)
        calls = {
            "shield": lambda: shield(0.0, 0, key=key),
            "vmap": lambda: jax.vmap(lambda key: shield(0.0, 0, key=key))(jax.random.split(key, 2)),
            "imagine": lambda: imagine(model, one, jax.numpy.zeros(()), 3, key=key),
            "wrapper": lambda: env.step(0),
            "step": lambda: model.step(jax.numpy.zeros(()), 0, key=key),
        }
        for call in calls.values():
            with pytest.raises(KeyError, match="no such cart"):
                call()

    def test_an_error_that_nobody_took_is_not_mistaken_for_another(self):
        """The first fails inside the user's own `jit`, where only JAX can tell; the second in JAX itself."""

        def step(states, actions, noise):
            raise KeyError("no such cart")

        with pytest.raises(jax.errors.JaxRuntimeError):
            jax.jit(NumpyModel(step, ["far"]).step)(0.0, 0, key=jax.random.key(0))
        with pytest.raises(jax.errors.JaxRuntimeError, match="another"), original_errors():
            raise jax.errors.JaxRuntimeError("another")

    def test_one_state_may_be_stepped_by_hand(self):
        model = NumpyModel(self.step, ["far"], dtype="int32")
        following, prediction = model.step(jax.numpy.asarray(2), 1, key=jax.random.key(0))
        assert int(following) in (1, 3)
        assert bool(prediction.labels["far"]) == (int(following) == 3)


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

    def coin(self):
        """In state 0, action 0 is safe, 1 is safe with probability a half, 2 never; state 1 is acid."""
        kernel = np.zeros((2, 3, 2))
        kernel[0] = [[1, 0], [0.5, 0.5], [0, 1]]
        kernel[1, :, 1] = 1
        return ambs.FiniteModel.mdp(kernel, {"acid": np.array([False, True])})

    @pytest.mark.parametrize(
        ("bound", "allowed"),
        [
            ("P>=1", [True, False, False]),
            ("P>=0.5", [True, True, False]),
            ("P>0.5", [True, False, False]),
            ("P>0.4", [True, True, False]),
        ],
    )
    def test_thresholds_are_exact(self, bound, allowed):
        shield = ClassicalShield(self.coin(), f"{bound} [ G<=1 !acid ]")
        assert shield.allowed[0].tolist() == allowed
        assert [bool(shield(0, action).overridden) for action in range(3)] == [not each for each in allowed]

    def test_rounding_does_not_move_a_threshold(self):
        """As floats 0.7 + 0.2 + 0.1 is below 1, but certain; 0.1 + 0.2 is above 0.3, but no more than it."""
        kernel = np.zeros((4, 2, 4))
        kernel[0] = [[0.7, 0.2, 0.1, 0], [0.1, 0.2, 0, 0.7]]
        kernel[1:, :, :] = np.eye(4)[1:, None]
        mdp = ambs.FiniteModel.mdp(kernel, {"acid": np.arange(4) == 3})
        assert ClassicalShield(mdp, "P>=1 [ G<=1 !acid ]").allowed[0].tolist() == [True, False]
        assert ClassicalShield(mdp, "P>0.3 [ G<=1 !acid ]").allowed[0].tolist() == [True, False]

    @pytest.mark.parametrize("bound", ["P>=0", "P>0", "P>1"])
    def test_thresholds_that_decide_nothing_are_refused(self, bound):
        with pytest.raises(FormulaError, match="refuses nothing or everything"):
            ClassicalShield(self.coin(), f"{bound} [ G<=1 !acid ]")

    @pytest.mark.parametrize("prefer", [np.zeros(3), np.zeros((3, 2)), 1.0, np.full((2, 3), np.nan)])
    def test_a_preference_of_another_shape_is_refused(self, prefer):
        with pytest.raises(AmbsError, match="prefer has to be 2 by 3 numbers"):
            ClassicalShield(self.coin(), "P>=0.9 [ G<=1 !acid ]", prefer=prefer)

    def test_takes_only_bounded_safety(self):
        with pytest.raises(FormulaError, match="G<=n"):
            ClassicalShield(Conveyor("small").mdp(), "P>=0.9 [ F<=30 goal ]")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [({"model": np.eye(2)}, "model is of type ndarray"), ({"task": [0, 1]}, "task policy"), ({"test": "A"}, "Ladder")],
)
def test_parts_that_are_none_are_named(wrong, words):
    kernel = np.full((2, 2, 2), 0.5)
    policy = ambs.TabularPolicy(np.full((2, 2), 0.5))
    model = ambs.TabularModel(kernel, {"a": np.array([False, True])})
    parts = {"model": model, "task": policy, "backup": policy, "formula": "!a", **wrong}
    with pytest.raises(ambs.AmbsError, match=words):
        ambs.LookaheadShield(**parts)


@pytest.mark.parametrize("wrong", [-1.0, float("nan")])
def test_a_policy_says_which_probability_is_none(wrong):
    with pytest.raises(ambs.ModelError, match="action 1 in state 0"):
        ambs.TabularPolicy([[1.0, wrong], [1.0, 0.0]])

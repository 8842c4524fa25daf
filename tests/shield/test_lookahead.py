"""The compiled shield against the exact truth: model checking tells μ, dynamic programming tells the test."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import ambs
from ambs import AmbsError, FormulaError, ModelError
from ambs.logic import FiniteModel, check
from ambs.shield import CostCriterion, LabelCriterion, NoShield, imagine, safety_formula
from ambs.shield.stat_tests.interval import interval_table
from ambs.types import Prediction

A = ambs.Ladder.level("A")
FORMULA = "P>=0.9 [ G<=30 !acid ]"


def hazard_model(hazard: float) -> ambs.TabularModel:
    """State 0 is safe; action 0 falls into acid with probability `hazard` a step, action 1 never does."""
    kernel = np.zeros((2, 2, 2))
    kernel[0, 0] = [1 - hazard, hazard]
    kernel[0, 1] = [1, 0]
    kernel[1, :, 1] = 1
    return ambs.TabularModel(kernel, labels={"acid": np.array([False, True])})


TASK = ambs.TabularPolicy.greedy([0, 0], 2)
BACKUP = ambs.TabularPolicy.greedy([1, 1], 2)


def decide_many(shield, count, seed=0, state=0, proposed=0):
    keys = jax.random.split(jax.random.key(seed), count)
    return jax.jit(jax.vmap(lambda key: shield(state, proposed, key=key)))(keys)


@pytest.mark.parametrize("test", [A, ambs.Ladder.level("B"), ambs.Fixed(64, 1), ambs.Fixed(128, 2, batch=32)])
@pytest.mark.parametrize("mu", [0.999, 0.97, 0.9])
def test_the_accept_rate_is_the_exact_operating_characteristic(test, mu):
    count = 4000
    shield = ambs.LookaheadShield(hazard_model(1 - mu ** (1 / 5)), TASK, BACKUP, "P>=0.9 [ G<=5 !acid ]", test)
    decisions = decide_many(shield, count, seed=1)
    accepted = int((~decisions.overridden).sum())
    expected = test.accept_probability(mu)
    # A false alarm once in a million.
    low, high = stats.binom.interval(1 - 1e-6, count, expected)
    assert low <= accepted <= high
    spread = test.max_samples * np.sqrt(1 / count)
    assert float(decisions.traces.mean()) == pytest.approx(test.expected_samples(mu), abs=3 * spread)


def test_type_one_error_just_below_the_threshold():
    """20,000 decisions at μ = .8999: accepted no more often than δ allows."""
    shield = ambs.LookaheadShield(hazard_model(1 - 0.8999 ** (1 / 5)), TASK, BACKUP, "P>=0.9 [ G<=5 !acid ]", A)
    accepted = int((~decide_many(shield, 20_000, seed=2).overridden).sum())
    assert accepted <= 0.01 * 20_000
    # A false alarm once in a million, if the seed were another.
    low, high = stats.binom.interval(1 - 1e-6, 20_000, A.accept_probability(0.8999))
    assert low <= accepted <= high


def test_an_overridden_action_is_the_backups_and_an_accepted_one_the_proposed():
    risky = ambs.LookaheadShield(hazard_model(0.5), TASK, BACKUP, FORMULA, A)
    decision = risky(0, 0, key=jax.random.key(0))
    assert bool(decision.overridden)
    assert int(decision.action) == 1
    assert int(decision.traces) == 16
    safe = ambs.LookaheadShield(hazard_model(0.0), TASK, BACKUP, FORMULA, A)
    decision = safe(0, 0, key=jax.random.key(0))
    assert not bool(decision.overridden)
    assert int(decision.action) == 0
    assert (int(decision.traces), float(decision.estimate)) == (48, 1.0)


def test_the_proposed_action_is_verified_and_not_a_fresh_sample():
    """The task policy takes the fatal action once in ten thousand times; proposing it has to be refused."""
    kernel = np.zeros((2, 2, 2))
    kernel[0, 0, 0] = 1
    kernel[0, 1, 1] = 1
    kernel[1, :, 1] = 1
    model = ambs.TabularModel(kernel, {"acid": np.array([False, True])})
    task = ambs.TabularPolicy(np.array([[0.9999, 0.0001], [1, 0]]))
    shield = ambs.LookaheadShield(model, task, ambs.TabularPolicy.greedy([0, 0], 2), FORMULA, A)
    assert bool(shield(0, 1, key=jax.random.key(0)).overridden)
    assert not bool(shield(0, 0, key=jax.random.key(0)).overridden)


def test_states_one_to_n_count_and_no_more():
    """A belt that ends in acid after four steps: seen by a look-ahead of 4, not by one of 3."""
    kernel = np.zeros((6, 1, 6))
    for state in range(5):
        kernel[state, 0, state + 1] = 1
    kernel[5, 0, 5] = 1
    model = ambs.TabularModel(kernel, {"acid": np.arange(6) >= 4})
    policy = ambs.TabularPolicy(np.ones((6, 1)))
    for steps, overridden in ((3, False), (4, True)):
        shield = ambs.LookaheadShield(model, policy, policy, f"P>=0.9 [ G<={steps} !acid ]", A)
        assert bool(shield(0, 0, key=jax.random.key(0)).overridden) == overridden
    # Standing in acid is not the action's doing: stepping out of it is allowed.
    out = np.zeros((2, 1, 2))
    out[:, 0, 0] = 1
    shield = ambs.LookaheadShield(
        ambs.TabularModel(out, {"acid": np.array([False, True])}), ambs.TabularPolicy(np.ones((2, 1))),
        ambs.TabularPolicy(np.ones((2, 1))), FORMULA, A,
    )  # fmt: skip
    assert not bool(shield(1, 0, key=jax.random.key(0)).overridden)


def test_no_more_traces_once_all_are_decided():
    """Of two environments the slower decides how many rounds run; each counts only its own traces.

    The safe one is accepted after 48 traces, the one that is surely lost refused after 16. Three rounds of 16 for both,
    then: not one (48 would be wrong), and not the seven that the test could take.
    """
    calls = []

    class Spy(NoShield):
        inner: ambs.TabularModel

        def step(self, state, action, *, key):
            jax.debug.callback(lambda _: calls.append(1), jax.random.key_data(key))
            return self.inner.step(state, action, key=key)

    shield = ambs.LookaheadShield(Spy(hazard_model(0.0)), TASK, BACKUP, "P>=0.9 [ G<=2 !acid ]", A)
    keys = jax.random.split(jax.random.key(0), 2)
    for states, traces, rounds in (([0, 1], [48, 16], 3), ([1, 1], [16, 16], 1)):
        calls.clear()
        decisions = jax.vmap(lambda state, key: shield(state, 0, key=key))(jnp.array(states), keys)
        jax.effects_barrier()
        assert decisions.traces.tolist() == traces
        assert len(calls) == rounds * 16 * 2 * 2


def test_batches_and_single_calls_agree():
    shield = ambs.LookaheadShield(hazard_model(0.002), TASK, BACKUP, FORMULA, A)
    keys = jax.random.split(jax.random.key(5), 20)
    together = jax.vmap(lambda key: shield(0, 0, key=key))(keys)
    for index, key in enumerate(keys):
        alone = shield(0, 0, key=key)
        assert int(alone.traces) == int(together.traces[index])
        assert float(alone.estimate) == pytest.approx(float(together.estimate[index]))


def test_intervals_cover_the_truth():
    mu = 0.95
    shield = ambs.LookaheadShield(hazard_model(1 - mu ** (1 / 30)), TASK, BACKUP, FORMULA, A, confidence=0.9)
    decisions = decide_many(shield, 3000, seed=4)
    covered = np.mean((np.asarray(decisions.low) <= mu) & (mu <= np.asarray(decisions.high)))
    assert covered >= 0.9 - 3 * np.sqrt(0.09 / 3000)
    assert np.all(np.asarray(decisions.low) <= np.asarray(decisions.estimate) + 1e-6)
    assert np.all(np.asarray(decisions.estimate) <= np.asarray(decisions.high) + 1e-6)


@pytest.mark.parametrize("test", [A, ambs.Fixed(64, 1), ambs.Fixed(64, 1, 8), ambs.Betting(), ambs.Betting(0.002)])
def test_interval_tables_reach_every_outcome_and_stay_small(test):
    looks = test.looks
    low, high = interval_table(looks)
    batch = np.diff(looks.samples, prepend=0)
    assert low.shape[1] > min(looks.samples[-1], max(np.array(looks.reject) - 1 + batch))
    assert low.size < 10**7
    # By hand at the first look without a violation: the lower end p solves p^n = share, the upper is 1.
    share = 0.05 / len(looks.samples) / 2
    assert low[0, 0] == pytest.approx(share ** (1 / looks.samples[0]))
    assert high[0, 0] == 1


def test_other_bounded_formulas_are_judged_too():
    """Reach the goal within 3 steps, through safe states: exact value by model checking from the next state on."""
    rng = np.random.default_rng(3)
    kernel = rng.dirichlet(np.full(4, 0.7), (4, 1))
    labels = {"goal": np.arange(4) == 3, "acid": np.arange(4) == 2}
    model, policy = ambs.TabularModel(kernel, labels), ambs.TabularPolicy(np.ones((4, 1)))
    chain = FiniteModel.chain(kernel[:, 0], labels)
    for path, rest in (("!acid U<=4 goal", "!acid U<=3 goal"), ("X !acid", None), ("F[2,4] goal", "F[1,3] goal")):
        criterion = LabelCriterion(ambs.parse(path))
        keys = jax.random.split(jax.random.key(1), 8000)

        def one(key, criterion=criterion):
            return criterion(imagine(model, policy, 0, criterion.steps, key=key, first_action=0))

        estimate = float(jnp.mean(jax.vmap(one)(keys)))
        value = (~labels["acid"]).astype(float) if rest is None else check(chain, ambs.parse(f"P=? [ {rest} ]")).values
        assert estimate == pytest.approx(float(kernel[0, 0] @ value), abs=0.025)


class TestCost:
    """Proposition 2 with its corrections."""

    def trajectory(self, costs, cont=None):
        costs = jnp.asarray(costs, float)
        cont = jnp.ones(len(costs)) if cont is None else jnp.asarray(cont, float)
        states = jnp.arange(len(costs))
        return ambs.shield.Trajectory(states, states, Prediction(costs, cont, {}))

    def test_any_single_violation_within_the_horizon_is_seen(self):
        criterion = CostCriterion(horizon=15, imagined=15)
        assert bool(criterion(self.trajectory(np.zeros(15))))
        for time in range(15):
            assert not bool(criterion(self.trajectory(np.eye(15)[time] * 10)))

    def test_a_violation_in_a_terminal_state_counts_and_one_after_it_does_not(self):
        dies = [1, 1, 0, 1, 1]
        assert not bool(CostCriterion(5, 5)(self.trajectory([0, 0, 10, 0, 0], dies)))
        assert bool(CostCriterion(5, 5)(self.trajectory([0, 0, 0, 10, 0], dies)))
        # As printed, (γ cont)^(t-1) is 0 at the terminal state itself.
        assert bool(CostCriterion(5, 5, version="paper")(self.trajectory([0, 0, 10, 0, 0], dies)))

    def test_weights_by_hand(self):
        criterion = CostCriterion(3, 3, discount=0.5, tail=lambda state: jnp.asarray(4.0))
        cost = criterion.cost(self.trajectory([1, 2, 4], [1, 0.5, 1]))
        # 1 + .5*2 + .25*.5*4 + .125*.5*4
        assert float(cost) == pytest.approx(1 + 1 + 0.5 + 0.25)
        printed = dataclasses.replace(criterion, version="paper").cost(self.trajectory([1, 2, 4], [1, 0.5, 1]))
        # 1 + (.25)*2, c_3 left out, tail undiscounted
        assert float(printed) == pytest.approx(1 + 0.5 + 4)

    def test_a_tail_reaches_exactly_to_the_look_ahead(self):
        """A sure violation t steps ahead, its discounted cost known to the tail: flagged for t in 1..T."""
        H, T, discount, C = 15, 30, 0.997, 10.0
        for time in range(1, 40):
            costs = np.zeros(H)
            if time <= H:
                costs[time - 1] = C
            beyond = C * discount ** (time - H - 1) if time > H else 0.0
            criterion = CostCriterion(T, H, discount, C, tail=lambda state, beyond=beyond: jnp.asarray(beyond))
            assert bool(criterion(self.trajectory(costs))) == (time > T)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("P>=0.9 [ G !acid ]", "no step bound"),
        ("P<=0.1 [ F<=30 acid ]", "of the form"),
        ("P=? [ G<=30 !acid ]", "of the form"),
        ("G<=30 !acid", "of the form"),
        ("P>=1 [ G<=30 !acid ]", "neither confirm nor refute"),
        ("P>=0.9 [ G<=0 !acid ]", "at least 1 ahead"),
        ("P>=0.9 [ G<=30 !acit ]", 'did you mean "acid"'),
        ("P>=0.9 [ G<=30 P>=0.5 [ X acid ] ]", "cannot be read off"),
        ("P>=0.99 [ G<=30 !acid ]", "tolerates only 0.01"),
    ],
)
def test_formulas_a_shield_cannot_check(formula, message):
    with pytest.raises(FormulaError, match=message):
        ambs.LookaheadShield(hazard_model(0.1), TASK, BACKUP, formula, A)(0, 0, key=jax.random.key(0))


def test_a_propositional_formula_is_wrapped():
    assert str(safety_formula("!acid", Delta=0.25, horizon=7)) == 'P>=0.75 [ G<=7 !"acid" ]'
    with pytest.raises(AmbsError, match="horizon is 0"):
        safety_formula("!acid", horizon=0)
    with pytest.raises(AmbsError, match="Delta is 2"):
        safety_formula("!acid", Delta=2.0)


def test_without_a_test_the_ladder_fits_the_formula():
    shield = ambs.LookaheadShield(hazard_model(0.1), TASK, BACKUP, "P>=0.98 [ G<=5 !acid ]")
    assert shield.test == ambs.Ladder.design(1 - 0.98, 0.01)


@pytest.mark.parametrize("where", ["state", "cost", "cont", "action", "last"])
def test_nan_is_not_believed(where):
    """A state that is NaN has no label `state > 3`, so that it would pass as a safe one."""

    class Broken(NoShield):
        def step(self, state, action, *, key):
            position, time = state["position"] + action, state["time"] + 1
            nan = {"state": True, "last": time == 30}.get(where, False)
            following = {"position": jnp.where(nan, jnp.nan, position), "time": time}
            cost, cont = (jnp.where(where == name, jnp.nan, 1.0) for name in ("cost", "cont"))
            return following, Prediction(cost, cont, {"acid": position > 3})

        def sample(self, state, *, key):
            return jnp.where(where == "action", jnp.nan, 0.0)

    shield = ambs.LookaheadShield(Broken(), Broken(), Still(), FORMULA, A)

    def decide(position, key):
        return shield({"position": position, "time": 0}, 0.0, key=key)

    one = (jnp.asarray(0.0), jax.random.key(0))
    two = (jnp.zeros(2), jax.random.split(jax.random.key(0), 2))
    with pytest.raises(ModelError, match="predicted NaN"):
        decide(*one)
    for inside, arguments in ((jax.jit(decide), one), (jax.vmap(decide), two), (jax.jit(jax.vmap(decide)), two)):
        decision = inside(*arguments)
        assert np.all(decision.overridden)
        assert np.all(decision.action == 1.0)
        for claimed in (decision.estimate, decision.low, decision.high):
            assert np.isnan(claimed).all()


class Still(NoShield):
    """A backup policy that always plays 1."""

    def sample(self, state, *, key):
        return jnp.asarray(1.0)


def test_a_state_without_nan_is_believed():
    class Sound(Still):
        def step(self, state, action, *, key):
            following = {"position": state["position"] + action, "count": state["count"] + 1}
            labels = {"acid": following["position"] > 3.5}
            return following, Prediction(jnp.asarray(0.0), jnp.asarray(1.0), labels)

    shield = ambs.LookaheadShield(Sound(), Sound(), Sound(), "P>=0.9 [ G<=3 !acid ]", A)
    decision = shield({"position": 0.0, "count": 0}, 1.0, key=jax.random.key(0))
    assert (bool(decision.overridden), float(decision.estimate)) == (False, 1.0)


def test_no_shield_lets_everything_through():
    decision = NoShield()(0, 1, key=jax.random.key(0))
    assert (int(decision.action), bool(decision.overridden), int(decision.traces)) == (1, False, 0)

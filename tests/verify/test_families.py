"""The families' μ by hand, and the sampler and the exact sums against each other."""

import numpy as np
import pytest

import ambs
from ambs.shield import Fixed, Ladder
from ambs.verify import families, theorem3
from ambs.verify.calibration import exact_values
from ambs.verify.learned import counted
from ambs.verify.statistics import expected_estimate, failure_probability, missed, observed


@pytest.mark.parametrize(("alpha", "n"), [(0.09, 1), (0.018, 5), (0.003, 30), (0.5, 2)])
def test_the_hazard_family_is_safe_with_probability_one_minus_alpha_to_the_n(alpha, n):
    assert families.exact(families.hazard(alpha), n)[0] == pytest.approx((1 - alpha) ** n)
    assert families.exact(families.hazard(0.0), n)[0] == 1.0
    assert families.distance(families.hazard(0.0), families.hazard(alpha)).tolist() == [pytest.approx(alpha), 0.0]


def test_pushing_a_chain_costs_it_exactly_the_hazard():
    # From 0 to 1 and back, for ever safe; 2 is unsafe. Pushed by α, n steps are survived with (1-α)^n.
    kernel = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    chain = ambs.FiniteModel.chain(kernel, {"unsafe": np.array([False, False, True])})
    pushed = families.towards_unsafe(chain, 0.1)
    assert pushed.kernel.toarray() == pytest.approx(np.array([[0, 0.9, 0.1], [0.9, 0, 0.1], [0, 0, 1]]))
    assert families.exact(pushed, 3) == pytest.approx([0.9**3, 0.9**3, 0])
    assert families.distance(chain, pushed) == pytest.approx([0.1, 0.1, 0])


def test_the_rare_hazard_survives_as_its_hazard_says():
    rng = np.random.default_rng(0)
    mdp = families.rare_hazard_mdp(rng, 6, 2, 0.01)
    mu = families.exact(mdp.under(families.random_policy(rng, mdp)), 7)
    assert mu == pytest.approx([0.99**7] * 5 + [0])


def test_random_mdps_have_the_successors_asked_for():
    mdp = families.random_mdp(np.random.default_rng(0), 20, 3, 4)
    assert (np.diff(mdp.kernel.indptr) == 4).all()
    assert mdp.labels["unsafe"].sum() == 2


def test_walking_traces_agree_with_model_checking():
    rng = np.random.default_rng(1)
    mdp = families.random_mdp(rng, 10, 2, 4)
    chain = mdp.under(families.random_policy(rng, mdp))
    satisfied = families.satisfied_traces(rng, chain, 0, 5, 100, 2000)
    mu = families.exact(chain, 5)[0]
    assert satisfied.mean() / 100 == pytest.approx(mu, abs=5 * np.sqrt(mu * (1 - mu) / 200_000))
    # Independent traces, so a binomial count: neither more nor less variable.
    assert satisfied.var() == pytest.approx(100 * mu * (1 - mu), rel=0.2)


def test_nothing_is_safe_from_an_unsafe_start():
    assert families.satisfied_traces(np.random.default_rng(0), families.hazard(0.1), 1, 3, 10, 2).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("n", "printed", "corrected"), [(1, 0.507, 2.0e-12), (5, 0.348, 6.4e-13), (30, 0.319, 5.1e-13)]
)
def test_theorem_2_fails_on_its_counterexample_as_computed_elsewhere(n, printed, corrected):
    for alpha, chance in ((0.09 / n, printed), (0.09 / (2 * n), corrected)):
        found = failure_probability(1309, np.array([(1 - alpha) ** n]), np.ones(1), 0.09)
        assert found[0] == pytest.approx(chance, rel=0.02)


def test_failure_probability_by_hand():
    # Two fair traces: the estimate is 0, 1/2 or 1, and misses 1/2 by more than .4 half of the time, above it a quarter.
    half = np.array([0.5])
    assert failure_probability(2, half, half, 0.4)[0] == pytest.approx(0.5)
    assert failure_probability(2, half, half, 0.4, sides=1)[0] == pytest.approx(0.25)
    # A distance of exactly ε is not a failure.
    assert failure_probability(2, half, half, 0.5)[0] == 0
    assert missed(np.array([0, 1, 2]), 2, 0.5, 0.5) == 0
    assert missed(np.array([0, 1, 2]), 2, 0.5, 0.4) == 2
    assert missed(np.array([0, 1, 2]), 2, 0.5, 0.4, sides=1) == 1


def test_clopper_pearson_of_no_failure_is_the_rule_of_three():
    row = observed(0, 100)
    assert (row["low"], row["high"]) == (0.0, pytest.approx(1 - 0.025 ** (1 / 100)))


def test_a_test_that_cannot_stop_early_is_unbiased_and_the_ladder_is_not():
    mu = np.array([0.0, 0.3, 0.85, 1.0])
    assert expected_estimate(Fixed().looks, mu) == pytest.approx(mu)
    bias = expected_estimate(Ladder.level("A").looks, mu) - mu
    assert bias[[0, 3]] == pytest.approx([0, 0])
    assert bias[2] < -0.01


def test_a_deterministic_world_is_counted_exactly():
    mdp = families.rare_hazard_mdp(np.random.default_rng(0), 5, 2, 0.0)
    learned = counted(np.random.default_rng(0), mdp, 1)
    assert learned.kernel.toarray() == pytest.approx(mdp.kernel.toarray())


def test_exact_values_leave_out_the_state_itself():
    # From the unsafe state 1 action 0 leads to safety for ever: μ = 1, although state 1 is unsafe.
    kernel = np.array([[[1.0, 0], [0, 1]], [[1, 0], [0, 1]]])
    mdp = ambs.FiniteModel.mdp(kernel, {"unsafe": np.array([False, True])})
    stay = np.array([[1.0, 0], [1, 0]])
    assert exact_values(mdp, stay).tolist() == [[1, 0], [1, 0]]


def test_the_safe_policy_of_the_conveyor_is_safe_and_the_blind_one_is_not():
    mdp = families.conveyor("small")
    start = {
        policy: families.exact(mdp.under(families.conveyor_policy("small", policy)), 30)[mdp.initial]
        for policy in families.POLICIES
    }
    assert start["safe"] == pytest.approx(1)
    assert start["blind"] < 0.9
    assert start["tipsy"] < start["blind"]


def test_distances_of_counted_rows_by_hand():
    # One visit to a fair coin: the counted row is (1, 0) or (0, 1), always half away from the truth.
    assert theorem3._distances(np.random.default_rng(0), np.full((1, 2), 0.5), 1, 3).tolist() == [0.5] * 3

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs import ModelError
from ambs.tabular.counts import VisitCounts
from ambs.tabular.planning import reward_values, safest_actions, safety_values
from tests.logic.strategies import random_model


def test_steps_follow_the_kernel():
    rng = np.random.default_rng(0)
    kernel = rng.dirichlet(np.full(5, 0.4), (5, 2))
    kernel[2, 1] = [0, 0, 0, 0, 1]
    model = ambs.TabularModel(kernel, {"acid": np.arange(5) == 4}, terminal=np.arange(5) == 3)
    keys = jax.random.split(jax.random.key(0), 20_000)
    for state, action in ((0, 0), (1, 1), (2, 1)):
        step = jax.vmap(lambda key, s=state, a=action: model.step(s, a, key=key))
        following, prediction = step(keys)
        share = np.bincount(np.asarray(following), minlength=5) / len(keys)
        np.testing.assert_allclose(share, kernel[state, action], atol=0.016)
        np.testing.assert_array_equal(prediction.labels["acid"], following == 4)
        np.testing.assert_array_equal(prediction.cont, jnp.where(following == 3, 0.0, 1.0))


def test_policies_follow_their_probabilities():
    probs = np.array([[0.2, 0.5, 0.3], [0, 0, 1]])
    policy = ambs.TabularPolicy(probs)
    keys = jax.random.split(jax.random.key(1), 20_000)
    for state in (0, 1):
        actions = jax.vmap(lambda key, s=state: policy.sample(s, key=key))(keys)
        np.testing.assert_allclose(np.bincount(actions, minlength=3) / len(keys), probs[state], atol=0.016)
    np.testing.assert_allclose(policy.probs, probs, atol=1e-6)


def test_rows_that_do_not_sum_to_one_are_refused():
    with pytest.raises(ModelError, match="policy in state 1 sum to 0.9"):
        ambs.TabularPolicy(np.array([[1, 0], [0.5, 0.4]]))
    with pytest.raises(ModelError, match="state 0, choice 1 sum to 0.5"):
        ambs.TabularModel(np.array([[[1.0], [0.5]]]), {})
    with pytest.raises(ModelError, match="nan"):
        ambs.TabularModel(np.full((1, 1, 1), np.nan), {})
    with pytest.raises(ModelError, match="terminal has to be 1 numbers"):
        ambs.TabularModel(np.ones((1, 1, 1)), {}, terminal=np.zeros(3))


@pytest.mark.parametrize(
    ("actions", "message"),
    [
        ([0, 9], "plays action 9 in state 1, and there are only 2"),
        ([-1, 0], "plays action -1 in state 0"),
        ([[0, 1]], r"one action number a state, not int64 of shape \(1, 2\)"),
        ([0.0, 1.0], "one action number a state, not float64"),
    ],
)
def test_a_greedy_policy_plays_actions_that_exist(actions, message):
    with pytest.raises(ModelError, match=message):
        ambs.TabularPolicy.greedy(actions, 2)


def test_tables_know_their_shape_and_whether_they_have_costs():
    kernel = np.full((2, 3, 2), 0.5)
    model = ambs.TabularModel(kernel, {})
    assert model.table_shape == (2, 3)
    assert ambs.TabularPolicy.greedy([0, 2], 3).table_shape == (2, 3)
    assert not model.has_costs
    assert float(model.step(0, 0, key=jax.random.key(0))[1].cost) == 0
    priced = ambs.TabularModel(kernel, {}, cost=[7, 7])
    assert priced.has_costs
    assert float(priced.step(0, 0, key=jax.random.key(0))[1].cost) == 7


def test_counts_become_the_maximum_likelihood_model():
    counts = VisitCounts(2, 2)
    for following in (0, 1, 1, 1):
        counts.add(0, 0, following, reward=2.0)
    kernel = counts.kernel(caution=1.0)
    np.testing.assert_array_equal(kernel[0, 0], [0.25, 0.75, 0])
    np.testing.assert_array_equal(kernel[0, 1], [0, 0, 1])
    np.testing.assert_array_equal(kernel[2], [[0, 0, 1]] * 2)
    np.testing.assert_array_equal(counts.kernel(caution=0.0)[1, 1], [0, 1, 0])
    np.testing.assert_array_equal(counts.mean_reward(), [[2, 0], [0, 0], [0, 0]])


def test_hope_fades_over_the_first_tries_and_ends_with_a_violation():
    counts = VisitCounts(2, 2)
    np.testing.assert_array_equal(counts.mean_reward(hope=9.0), [[9, 9], [9, 9], [0, 0]])
    counts.add(0, 0, 1, reward=2.0)
    np.testing.assert_allclose(counts.mean_reward(hope=9.0, tries=3), [[2 + 6, 9], [9, 9], [0, 0]])
    counts.add(0, 1, 1, 0.0, violated=True)
    np.testing.assert_allclose(counts.mean_reward(hope=9.0, tries=3), [[2 + 6, 0], [9, 9], [0, 0]])


def test_safety_values_are_the_exact_probabilities():
    """Against model checking: after the action, G<=n-1 from where it leads."""
    mdp = random_model(np.random.default_rng(6), 3)
    kernel = mdp.kernel.toarray().reshape(mdp.states, 3, mdp.states)
    safe = ~mdp.labels["a"]
    best = ambs.check(mdp, ambs.parse("Pmax=? [ G<=6 !a ]")).values
    np.testing.assert_allclose(safety_values(kernel, safe, 7), kernel @ best, atol=1e-12)
    policy = np.random.default_rng(1).dirichlet(np.ones(3), mdp.states)
    under = ambs.check(mdp.under(policy), ambs.parse("P=? [ G<=6 !a ]")).values
    np.testing.assert_allclose(safety_values(kernel, safe, 7, policy), kernel @ under, atol=1e-12)


def test_reward_values_by_hand():
    """Two states; action 1 pays 1 and stays, action 0 pays nothing: V = 1/(1-γ)."""
    kernel = np.tile(np.eye(2)[:, None], (1, 2, 1))
    values = reward_values(kernel, np.array([[0.0, 1.0], [0.0, 1.0]]), 0.9)
    np.testing.assert_allclose(values, [[9, 10], [9, 10]], atol=1e-5)
    only_the_first = np.array([[True, False], [True, True]])
    restricted = reward_values(kernel, np.array([[0.0, 1.0], [0.0, 1.0]]), 0.9, allowed=only_the_first)
    np.testing.assert_allclose(restricted, [[0, -np.inf], [9, 10]], atol=1e-5)
    np.testing.assert_array_equal(safest_actions(np.array([[0.5, 0.5], [0.2, 0.3]])), [[True, True], [False, True]])

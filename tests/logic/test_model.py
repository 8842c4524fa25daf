import jax.numpy as jnp
import numpy as np
import pytest
from scipy import sparse

import ambs
from ambs import ModelError
from ambs.logic import FiniteModel, check, robust_bounded_globally
from tests.logic.strategies import random_model


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ([[0.5, 0.4], [0, 1]], "state 0 sum to 0.9, not to 1"),
        ([[1.5, -0.5], [0, 1]], "state 0 goes to state 1 with probability -0.5"),
        ([[np.nan, 1], [0, 1]], "state 0 goes to state 0 with probability nan"),
        ([[0.5, 0.5]], "square"),
    ],
)
def test_a_kernel_that_is_none_names_its_state(kernel, message):
    with pytest.raises(ModelError, match=message):
        FiniteModel.chain(np.array(kernel))


def test_an_mdp_names_state_and_choice():
    kernel = np.tile(np.eye(3)[:, None], (1, 2, 1))
    kernel[2, 1] = [0.2, 0.2, 0.2]
    with pytest.raises(ModelError, match="state 2, choice 1 sum to 0.6"):
        FiniteModel.mdp(kernel)


def test_labels_have_one_boolean_a_state():
    with pytest.raises(ModelError, match='"acid" has to be 2 Booleans'):
        FiniteModel.chain(np.eye(2), {"acid": np.array([True])})
    with pytest.raises(ModelError, match="float64"):
        FiniteModel.chain(np.eye(2), {"acid": np.array([1.0, 0.0])})


def test_the_initial_state_exists():
    with pytest.raises(ModelError, match="initial state 5"):
        FiniteModel.chain(np.eye(2), initial=5)


def test_the_users_matrix_is_not_changed():
    given = np.array([[0.3333333, 0.6666666], [0, 1.0]])
    before = given.copy()
    FiniteModel.chain(given)
    np.testing.assert_array_equal(given, before)
    compressed = sparse.csr_array(given)
    FiniteModel.chain(compressed)
    np.testing.assert_array_equal(compressed.toarray(), before)


def test_dense_and_sparse_mdps_are_the_same():
    model = random_model(np.random.default_rng(1), 3)
    dense = model.kernel.toarray().reshape(model.states, 3, model.states)
    again = FiniteModel.mdp([sparse.csr_array(dense[:, action]) for action in range(3)])
    np.testing.assert_array_equal(again.kernel.toarray(), model.kernel.toarray())


def test_any_array_is_read_the_same_way():
    """States first, then actions: also from JAX and from lists, where as many states as actions could be mistaken."""
    kernel = np.random.default_rng(0).dirichlet(np.ones(3), (3, 3))
    expected = FiniteModel.mdp(kernel).kernel.toarray()
    for given in (jnp.asarray(kernel), kernel.tolist()):
        np.testing.assert_allclose(FiniteModel.mdp(given).kernel.toarray(), expected, atol=1e-6)


@pytest.mark.parametrize("kernel", [np.ones(3), [], np.ones((2, 2)), [sparse.eye_array(2), sparse.eye_array(3)], "no"])
def test_what_is_no_kernel_is_refused(kernel):
    with pytest.raises(ModelError):
        FiniteModel.mdp(kernel)


def test_explicit_zeros_are_no_transitions():
    kernel = sparse.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 1]), np.array([0, 2, 3])), shape=(2, 2))
    direct = FiniteModel(kernel, np.arange(3), {"g": np.array([False, True])})
    assert direct.transitions == 2
    assert not check(direct, "P>0 [ F g ]").satisfied[0]


def test_a_policy_makes_a_chain_between_the_optima():
    rng = np.random.default_rng(2)
    mdp = random_model(rng, 3)
    chain = mdp.under(rng.dirichlet(np.ones(3), mdp.states))
    low, high = (check(mdp, ambs.parse(f"{q}=? [ a U<=9 b ]")).values for q in ("Pmin", "Pmax"))
    value = check(chain, ambs.parse("P=? [ a U<=9 b ]")).values
    assert np.all(low <= value + 1e-12)
    assert np.all(value <= high + 1e-12)
    with pytest.raises(ModelError, match="sum to one"):
        mdp.under(np.full((mdp.states, 3), 0.5))
    with pytest.raises(ModelError, match="up to 3 choices"):
        mdp.under(np.ones((mdp.states, 1)))


class TestRobust:
    """The least μ over chains within a total-variation radius."""

    def test_radius_zero_is_the_exact_value(self):
        chain = random_model(np.random.default_rng(3), 1)
        exact = check(chain, ambs.parse("P=? [ G<=7 !a ]")).values
        np.testing.assert_allclose(robust_bounded_globally(chain, ~chain.labels["a"], 0.0, 7), exact, atol=1e-14)

    def test_hazard_family_attains_the_bound(self):
        """A safe self-loop: within α of it there is the hazard chain, with μ = (1-α)^n exactly."""
        chain = FiniteModel.chain(np.eye(2))
        value = robust_bounded_globally(chain, np.array([True, False]), 0.03, 30)
        assert value[0] == pytest.approx(0.97**30, rel=1e-12)

    def test_every_chain_within_the_radius_is_at_least_as_safe(self):
        rng = np.random.default_rng(5)
        for _ in range(50):
            chain = random_model(rng, 1)
            safe = ~chain.labels["a"]
            other = rng.dirichlet(np.full(chain.states, 0.2), chain.states)
            share = rng.uniform(0, 0.3, chain.states)
            mixed = (1 - share[:, None]) * chain.kernel.toarray() + share[:, None] * other
            radius = 0.5 * np.abs(mixed - chain.kernel.toarray()).sum(axis=1)
            truth = check(FiniteModel.chain(mixed, chain.labels), ambs.parse("P=? [ G<=9 !a ]")).values
            assert np.all(robust_bounded_globally(chain, safe, radius, 9) <= truth + 1e-12)

    def test_mass_has_to_go_somewhere_even_if_nowhere_is_unsafe(self):
        chain = random_model(np.random.default_rng(3), 1)
        np.testing.assert_allclose(robust_bounded_globally(chain, np.ones(chain.states, bool), 0.3, 5), 1.0, rtol=1e-12)

    @pytest.mark.parametrize(("radius", "steps"), [(-0.1, 3), (np.nan, 3), (0.1, -1)])
    def test_nonsense_is_refused(self, radius, steps):
        chain = random_model(np.random.default_rng(3), 1)
        with pytest.raises(ModelError, match="at least 0"):
            robust_bounded_globally(chain, ~chain.labels["a"], radius, steps)

    def test_an_mdp_is_refused(self):
        mdp = random_model(np.random.default_rng(3), 2)
        with pytest.raises(ModelError, match="under"):
            robust_bounded_globally(mdp, ~mdp.labels["a"], 0.0, 3)

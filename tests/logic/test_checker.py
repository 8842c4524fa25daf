"""Exact checking against closed forms, path enumeration and Storm."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import ambs
from ambs import FormulaError, ModelError
from ambs.logic import FiniteModel, check, solve, syntax
from ambs.logic.graph import Graph
from tests.logic import brute_force
from tests.logic.storm_oracle import ask_storm, to_storm
from tests.logic.strategies import bounded_steps, paths, propositional, random_model, states

PATHS = [
    "X a",
    "a U b",
    "a U<=7 b",
    "F c",
    "F<=5 c",
    "G a | b",
    "G<=9 !c",
    "a W b",
    "a W<=4 b",
    "a R b",
    "b R<=5 (a | c)",
    "F P>=0.4 [ X a ]",
    "G P<0.7 [ !a U<=3 b ]",
    "!a U P>0.5 [ F (b & c) ]",
    "F (P>=1 [ F a ] & b)",
    "P>0 [ G !c ] U b",
    "(a | c) W P<=0.3 [ G<=4 b ]",
    "X P>0.2 [ G (P<=0.8 [ X c ] | a) ]",
]


def gambler(states: int, win: float) -> FiniteModel:
    up = sparse.diags_array([np.r_[0, np.full(states - 2, win)]], offsets=[1], shape=(states, states))
    down = sparse.diags_array([np.r_[np.full(states - 2, 1 - win), 0]], offsets=[-1], shape=(states, states))
    ends = sparse.diags_array([np.r_[1, np.zeros(states - 2), 1]], offsets=[0])
    position = np.arange(states)
    return FiniteModel.chain(
        sparse.csr_array(up + down + ends),
        {"rich": position == states - 1, "broke": position == 0},
        states // 2,
    )


@pytest.mark.parametrize(("states", "win"), [(11, 0.5), (301, 0.6), (1001, 0.49), (20_001, 0.5)])
def test_gamblers_ruin(states, win):
    result = check(gambler(states, win), ambs.parse("P=? [ F rich ]"), precision=1e-6)
    i, n, odds = np.arange(states), states - 1, (1 - win) / win
    exact = i / n if win == 0.5 else np.expm1(i * np.log(odds)) / np.expm1(n * np.log(odds))
    assert np.abs(result.values - exact).max() <= result.error + 1e-14
    assert result.error < 1e-7


def test_knuth_yao_die():
    """The die of PRISM's tutorial: seven coin states and six faces."""
    edges = {0: (1, 2), 1: (3, 4), 2: (5, 6), 3: (1, 7), 4: (8, 9), 5: (10, 11), 6: (2, 12)}
    kernel = np.eye(13)
    for state, (heads, tails) in edges.items():
        kernel[state] = 0
        kernel[state, [heads, tails]] = 0.5
    labels = {f"face{k}": np.arange(13) == 6 + k for k in range(1, 7)}
    die = FiniteModel.chain(kernel, labels)
    for k in range(1, 7):
        result = check(die, ambs.parse(f"P=? [ F face{k} ]"))
        assert result.values[0] == pytest.approx(1 / 6, abs=1e-15)
        # Exactly at the threshold: >= holds and > does not, however the last digit fell.
        assert check(die, ambs.parse(f"P>=1/6 [ F face{k} ]")).satisfied[0]
        assert not check(die, ambs.parse(f"P>1/6 [ F face{k} ]")).satisfied[0]
    assert check(die, ambs.parse("P>=1/6 [ F face1 ]")).borderline > 0


def test_constant_hazard_is_a_power():
    hazard = 0.0035
    chain = FiniteModel.chain(np.array([[1 - hazard, hazard], [0, 1]]), {"hit": np.array([False, True])})
    values = check(chain, ambs.parse("P=? [ G<=30 !hit ]")).values
    np.testing.assert_allclose(values, [(1 - hazard) ** 30, 0], rtol=1e-13)


@given(st.integers(0, 2**32 - 1), paths(propositional(("a", "b"), depth=1), bounded_steps))
@settings(max_examples=150)
def test_bounded_operators_agree_with_path_enumeration(seed, path):
    rng = np.random.default_rng(seed)
    kernel = rng.dirichlet(np.full(3, 0.5), 3)
    chain = FiniteModel.chain(kernel, {name: rng.random(3) < 0.5 for name in ("a", "b")})
    steps = max(1, 0 if isinstance(path, syntax.Next) else path.steps.upper)
    expected = brute_force.path_probability(
        chain,
        path,
        lambda f: [brute_force.holds(f, lambda n, s=s: chain.labels[n][s]) for s in range(3)],
        steps,
    )
    result = check(chain, syntax.ProbabilityQuery(path))
    np.testing.assert_allclose(result.values, expected, atol=1e-10)


@pytest.mark.parametrize("actions", [1, 2, 3])
@pytest.mark.parametrize("block", range(5))
def test_equals_storm_on_random_models(actions, block):
    """15 blocks of 8 models, all formulas, min and max: 120 models and over 3,000 answers."""
    rng = np.random.default_rng([actions, block])
    for _ in range(8):
        model = random_model(rng, actions)
        storm = to_storm(model)
        for text in PATHS:
            for quantifier in ("P",) if model.is_chain else ("Pmin", "Pmax"):
                formula = ambs.parse(f"{quantifier}=? [ {text} ]")
                result = check(model, formula)
                assert result.error < 1e-10
                expected = ask_storm(storm, model.states, formula)
                np.testing.assert_allclose(result.values, expected, atol=1e-9, err_msg=str(formula))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 3),
    states(
        ("a", "b", "c"),
        (bounded_steps | st.just(syntax.Steps())).filter(lambda s: s.lower == 0),
        st.integers(0, 64).map(lambda k: k / 64),
    ),
)
@settings(max_examples=150)
def test_generated_nested_formulas_equal_storm(seed, actions, formula):
    model = random_model(np.random.default_rng(seed), actions)
    result = check(model, formula)
    # Where a comparison is closer to its threshold than the error, Storm's answer is a matter of rounding.
    if result.borderline == 0:
        expected = ask_storm(to_storm(model), model.states, formula)
        np.testing.assert_array_equal(result.satisfied, expected.astype(bool), err_msg=str(formula))


@given(st.integers(0, 2**32 - 1), st.integers(2, 3), st.integers(0, 4), st.integers(0, 4), st.booleans())
@settings(max_examples=100)
def test_step_intervals_on_mdps_agree_with_backward_induction(seed, actions, low, extra, maximise):
    """Not compared with Storm: it ignores the lower bound on MDPs when no state is left to compute."""
    model = random_model(np.random.default_rng(seed), actions)
    left, right = model.labels["a"] | model.labels["b"], model.labels["c"]
    value = right.astype(float)
    best = max if maximise else min
    dense = model.kernel.toarray().reshape(model.states, actions, model.states)
    for time in range(low + extra - 1, -1, -1):
        backed = [best(float(row @ value) for row in dense[s]) for s in range(model.states)]
        value = np.array(
            [1.0 if right[s] and time >= low else backed[s] if left[s] else 0.0 for s in range(model.states)]
        )
    quantifier = "Pmax" if maximise else "Pmin"
    formula = ambs.parse(f"{quantifier}=? [ (a | b) U[{low},{low + extra}] c ]")
    np.testing.assert_allclose(check(model, formula).values, value, atol=1e-12)


def test_lower_bounds_without_an_end():
    """F>=k from a state is F after k steps; G>=k likewise."""
    model = random_model(np.random.default_rng(4), 1)
    plain = check(model, ambs.parse("P=? [ F a ]")).values
    after = np.linalg.matrix_power(model.kernel.toarray(), 3) @ plain
    np.testing.assert_allclose(check(model, ambs.parse("P=? [ F>=3 a ]")).values, after, atol=1e-12)
    stays = check(model, ambs.parse("P=? [ G (a|b|c) ]")).values
    after = np.linalg.matrix_power(model.kernel.toarray(), 2) @ stays
    np.testing.assert_allclose(check(model, ambs.parse("P=? [ G>=2 (a|b|c) ]")).values, after, atol=1e-12)


def test_the_certificate_covers_an_end_component():
    """Two states that can circle for ever, and leave to the goal with probability 1/2 each time they try.

    Value iteration from above stays at 1 here for ever, and from any constant in between it does not move.
    """
    kernel = np.zeros((4, 2, 4))
    kernel[0, 0, 1] = kernel[0, 1, 1] = 1
    kernel[1, 0, 0] = 1
    kernel[1, 1, [2, 3]] = 0.5
    kernel[2, :, 2] = kernel[3, :, 3] = 1
    model = FiniteModel.mdp(kernel, {"goal": np.arange(4) == 2})
    best = check(model, ambs.parse("Pmax=? [ F goal ]"))
    np.testing.assert_allclose(best.values, [0.5, 0.5, 1, 0], atol=1e-12)
    assert best.error < 1e-12
    np.testing.assert_array_equal(check(model, ambs.parse("Pmin=? [ F goal ]")).values, [0, 0, 1, 0])


def test_a_slow_leak_is_not_mistaken_for_convergence():
    """Leaves with probability 2^-23 a step: sweeps change by 1e-8 long before the answer, 1/2, is near."""
    leak = 2.0**-23
    kernel = np.array([[1 - leak, leak / 2, leak / 2], [0, 1, 0], [0, 0, 1]])
    chain = FiniteModel.chain(kernel, {"goal": np.array([False, True, False])})
    result = check(chain, ambs.parse("P=? [ F goal ]"))
    assert abs(result.values[0] - 0.5) <= result.error
    assert result.error < 1e-8


class TestCertainty:
    """Whether a probability is exactly 0 or 1 is decided by the graph, however small the leak or the rounding."""

    leak = FiniteModel.chain(
        np.array([[0.5, 0.5, 1e-20], [0, 1, 0], [0, 0, 1]]),
        {"goal": np.array([False, True, False]), "bad": np.array([False, False, True])},
    )
    # Ten tenths do not sum to one in floating point.
    tenths = FiniteModel.chain(np.vstack([np.r_[0, np.full(10, 0.1)], np.eye(11)[1:]]), {"a": np.arange(11) > 0})

    @pytest.mark.parametrize(
        ("formula", "expected"),
        [
            ("P>=1 [ F goal ]", False),
            ("P<1 [ F goal ]", True),
            ("P>=1 [ G !bad ]", False),
            ("P>=1 [ G<=5 !bad ]", False),
            ("P<1 [ G<=5 !bad ]", True),
            ("P>=1 [ !bad W goal ]", False),
            ("P>=1 [ goal R !bad ]", False),
            ("P>0 [ X bad ]", True),
            ("P>0 [ F<=5 bad ]", True),
            ("P<=0 [ F<=5 bad ]", False),
            ("P>0 [ F[2,5] bad ]", True),
            ("P>=0 [ F bad ]", True),
            ("P>1 [ F true ]", False),
            ("P<0 [ F bad ]", False),
            ("P<=1 [ F bad ]", True),
        ],
    )
    def test_a_tiny_leak(self, formula, expected):
        result = check(self.leak, formula)
        assert bool(result.satisfied[0]) == expected
        assert result.borderline == 0

    @pytest.mark.parametrize("path", ["X a", "F a", "F<=1 a", "F>=2 a", "F[1,3] a", "G[1,3] a", "a R a | !a", "G>=1 a"])
    def test_rounding_does_not_make_a_sure_thing_doubtful(self, path):
        assert check(self.tenths, f"P>=1 [ {path} ]").satisfied[0]
        assert not check(self.tenths, f"P<1 [ {path} ]").satisfied[0]
        assert not check(self.tenths, f"P>0 [ {'G' if path[0] == 'F' else 'X'} !a & a ]").satisfied[0]

    @given(st.integers(0, 2**32 - 1), st.integers(1, 3), paths(propositional(("a", "b", "c"), depth=1)))
    @settings(max_examples=150)
    def test_agrees_with_the_numbers_of_small_models(self, seed, actions, path):
        """Random models have no tiny probabilities: there 0 and 1 can be read off the numbers too."""
        model = random_model(np.random.default_rng(seed), actions)
        for optimum in ("min", "max"):
            values = check(model, syntax.ProbabilityQuery(path, optimum)).values
            for comparison, threshold, expected in ((">=", 1.0, values > 1 - 1e-9), (">", 0.0, values > 1e-12)):
                bound = syntax.ProbabilityBound(comparison, threshold, path, optimum)
                np.testing.assert_array_equal(check(model, bound).satisfied, expected)


class TestCertificate:
    """The bound has to hold for any candidate, and has to notice when it cannot."""

    @staticmethod
    def equations(leak=2.0**-20):
        chain = FiniteModel.chain(
            np.array([[1 - leak, leak / 2, leak / 2], [0, 1, 0], [0, 0, 1]]), {"goal": np.arange(3) == 1}
        )
        one = np.array([False, True, False])
        return solve._equations(Graph(chain), np.array([True, False, False]), one, "max")[0], leak

    @pytest.mark.parametrize("off", [1e-3, -0.2, 0.0])
    def test_covers_the_error_of_a_wrong_candidate(self, off):
        """The residual of x = 1/2 + off is only leak · off: a million times too small to be taken for the error."""
        equations, leak = self.equations()
        x, w = np.array([0.5 + off], np.longdouble), np.array([1 / leak], np.longdouble)
        bound = solve._certified_error(equations, x, w)
        assert abs(off) <= bound
        assert bound <= 1.01 * abs(off) + 1e-9

    @pytest.mark.parametrize("w", [0.0, -1.0, np.nan])
    def test_a_function_without_drift_proves_nothing(self, w):
        equations, _ = self.equations()
        assert solve._certified_error(equations, np.array([0.5], np.longdouble), np.array([w], np.longdouble)) == np.inf

    @pytest.mark.parametrize("fan", [10, 1000, 20_000])
    def test_covers_the_rounding_of_its_own_sums(self, fan):
        """Many small probabilities into the goal, summed exactly with fractions."""
        rng = np.random.default_rng(fan)
        weights = rng.random(fan)
        row = np.r_[0.25, weights / weights.sum() * 0.5, 0.25]
        size = fan + 2
        kernel = sparse.vstack([sparse.csr_array(row[None]), sparse.eye_array(size, format="csr")[1:]])
        goal = (np.arange(size) > 0) & (np.arange(size) < size - 1)
        chain = FiniteModel.chain(sparse.csr_array(kernel), {"goal": goal})
        stored = chain.kernel[[0]].toarray().ravel()
        exact = sum(map(Fraction, stored[1:-1])) / (1 - Fraction(stored[0]))
        result = check(chain, "P=? [ F goal ]")
        assert abs(Fraction(result.values[0]) - exact) <= Fraction(result.error)

    def test_what_cannot_be_certified_is_said(self):
        kernel = sparse.csr_array(np.array([[1.0, 1e-19, 1e-19], [0, 1, 0], [0, 0, 1]]))
        chain = FiniteModel.chain(kernel, {"goal": np.arange(3) == 1})
        with pytest.raises(ModelError, match="certified"):
            check(chain, "P=? [ F goal ]")


def test_a_bound_of_a_billion_steps_ends_when_nothing_changes_any_more():
    chain = FiniteModel.chain(np.array([[0.5, 0.5], [0, 1]]), {"goal": np.array([False, True])})
    assert check(chain, "P=? [ F<=900000000 goal ]").values[0] == 1.0
    assert check(chain, "P>=1 [ F<=900000000 goal ]").satisfied[0] == False  # noqa: E712


def test_large_models_are_certified_without_filling_memory():
    """A random graph of 20,000 states has no sparse LU to speak of; the Krylov way has to prove its answer."""
    rng = np.random.default_rng(0)
    size = 20_000
    kernel = sparse.csr_array(
        (
            rng.dirichlet(np.ones(4), size).ravel(),
            rng.integers(0, size, 4 * size),
            np.arange(0, 4 * size + 1, 4),
        ),
        shape=(size, size),
    )
    labels = {"bad": rng.random(size) < 0.01, "goal": rng.random(size) < 0.01}
    chain = FiniteModel.chain(kernel, labels)
    result = check(chain, ambs.parse("P=? [ !bad U goal ]"))
    assert result.error < 1e-10
    # The fixed-point equation itself, in the states it speaks of.
    inner = ~labels["bad"] & ~labels["goal"]
    np.testing.assert_allclose((chain.kernel @ result.values)[inner], result.values[inner], atol=1e-12)


def test_mdp_bounds_quantify_over_policies():
    kernel = np.zeros((3, 2, 3))
    kernel[0, 0, 1] = kernel[0, 1, 2] = kernel[1, :, 1] = kernel[2, :, 2] = 1
    model = FiniteModel.mdp(kernel, {"acid": np.arange(3) == 2})
    answers = {
        "P>=0.9 [ G<=5 !acid ]": False,
        "Pmax>=0.9 [ G<=5 !acid ]": True,
        "P<=0.1 [ G<=5 !acid ]": False,
        "Pmin<=0.1 [ G<=5 !acid ]": True,
    }
    for text, expected in answers.items():
        assert check(model, ambs.parse(text)).satisfied[0] == expected, text


def test_precision_that_cannot_be_proved_is_refused():
    with pytest.raises(ModelError, match="certified only to"):
        check(gambler(1001, 0.5), ambs.parse("P=? [ F rich ]"), precision=1e-16)


def test_questions_without_an_answer_are_refused():
    mdp = random_model(np.random.default_rng(0), 2)
    with pytest.raises(FormulaError, match="Pmin"):
        check(mdp, ambs.parse("P=? [ F a ]"))
    with pytest.raises(FormulaError, match=r"P=\? \[ F"):
        check(mdp, ambs.parse("F a"))
    with pytest.raises(FormulaError, match='"a", "b", "c"'):
        check(mdp, ambs.parse("Pmin=? [ F acid ]"))

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ambs
from ambs import FormulaError
from ambs.logic import compile_formula, holds, satisfies, syntax
from tests.logic import brute_force
from tests.logic.strategies import ATOMS, bounded_steps, paths, propositional

seeds = st.integers(0, 2**32 - 1)


def random_labels(seed, shape):
    rng = np.random.default_rng(seed)
    return {name: rng.random(shape) < 0.5 for name in ATOMS}


@given(propositional(), seeds)
@settings(max_examples=1500)
def test_states_agree_with_brute_force(formula, seed):
    labels = random_labels(seed, (3, 4))
    got = holds(formula, labels)
    assert got.shape == (3, 4)
    for index in np.ndindex(3, 4):
        assert got[index] == brute_force.holds(formula, lambda name, index=index: labels[name][index])


@given(paths(propositional(depth=1), bounded_steps), seeds)
@settings(max_examples=1500)
def test_traces_agree_with_brute_force(path, seed):
    labels = random_labels(seed, (5, 9))
    got = satisfies(path, labels)
    for trace in range(5):

        def true_at(formula, i, trace=trace):
            return brute_force.holds(formula, lambda name: labels[name][trace, i])

        assert got[trace] == brute_force.satisfies(path, 9, true_at), (str(path), trace)


@given(paths(propositional(depth=1), bounded_steps) | propositional(), seeds)
@settings(max_examples=60)
def test_jax_under_jit_agrees_with_numpy(formula, seed):
    labels = random_labels(seed, (4, 9))
    stacked = np.stack([labels[name] for name in ATOMS], axis=-1)
    compiled = compile_formula(formula, ATOMS)
    inside_jit = jax.jit(compiled)(jnp.asarray(stacked))
    assert isinstance(inside_jit, jax.Array)
    np.testing.assert_array_equal(np.asarray(inside_jit), compiled(stacked))
    one_at_a_time = jax.jit(jax.vmap(compiled))(jnp.asarray(stacked))
    np.testing.assert_array_equal(np.asarray(one_at_a_time), compiled(stacked))


def test_time_may_run_along_any_axis():
    labels = {"a": np.array([[True, True, False], [True, True, True]])}
    path = ambs.parse("G<=2 a")
    np.testing.assert_array_equal(satisfies(path, labels), [False, True])
    np.testing.assert_array_equal(satisfies(path, {"a": labels["a"].T}, axis=0), [False, True])


def test_single_labels_are_enough():
    assert holds(ambs.parse("!hit & (surface => diver)"), {"hit": False, "surface": True, "diver": True})


def test_an_unknown_atom_lists_those_that_exist():
    with pytest.raises(FormulaError, match='no atom "hti".*did you mean "hit".*"diver", "hit"'):
        holds(ambs.parse("!hti"), {"hit": True, "diver": False})
    with pytest.raises(FormulaError, match='no atom "x"'):
        compile_formula(ambs.parse("G<=3 x"), ["a", "b"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("G a", "no upper step bound"),
        ("F>=3 a", "no upper step bound"),
        ("G<=3 P>0.5 [ X a ]", "cannot be read off the labels"),
        ("a & b", "not a path formula"),
    ],
)
def test_only_bounded_path_formulas_of_labels_have_a_value_on_a_trace(text, message):
    with pytest.raises(FormulaError, match=message):
        satisfies(ambs.parse(text), {"a": np.ones(9, bool), "b": np.ones(9, bool)})


def test_a_trace_that_is_too_short_is_refused():
    with pytest.raises(FormulaError, match=r"looks 30 steps ahead.* needs 31 states, and these have 30"):
        satisfies(ambs.parse("G<=30 a"), {"a": np.ones((2, 30), bool)})


def test_states_cannot_be_asked_for_paths_or_probabilities():
    for text in ("P>=0.9 [ G<=3 a ]", "G<=3 a", "P=? [ X a ]"):
        with pytest.raises(FormulaError, match="cannot be read off the labels"):
            holds(ambs.parse(text), {"a": np.ones(2, bool)})


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(FormulaError, match="one shape"):
        holds(ambs.parse("a & b"), {"a": np.ones(2, bool), "b": np.ones(3, bool)})
    with pytest.raises(FormulaError, match="float64"):
        holds(ambs.parse("a"), {"a": np.ones(2)})
    with pytest.raises(FormulaError, match="2 atoms"):
        compile_formula(ambs.parse("a & b"), ["a", "b"])(np.ones((4, 3), bool))


def test_text_is_taken_for_the_formula_it_says():
    assert holds("a & !b", {"a": np.array([True]), "b": np.array([False])}).all()
    assert satisfies("G<=1 a", {"a": np.ones(2, bool)})
    assert compile_formula("a", ["a"])(np.ones((2, 1), bool)).all()


def test_constants_take_the_shape_of_the_labels():
    assert holds(syntax.Constant(True), {"a": np.zeros((2, 3), bool)}).shape == (2, 3)

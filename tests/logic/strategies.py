"""Formulas and finite models for hypothesis to draw."""

import numpy as np
from hypothesis import strategies as st

from ambs.logic import FiniteModel, syntax

ATOMS = ("a", "b", "out-of-oxygen", "F", "true story")

thresholds = st.sampled_from([0.0, 1.0, 0.5, 0.1, 1 / 3, 0.9999999999999999]) | st.floats(0, 1)
steps = st.builds(
    lambda low, extra: syntax.Steps(low, None if extra is None else low + extra),
    st.integers(0, 4),
    st.none() | st.integers(0, 5),
)
bounded_steps = st.builds(lambda low, extra: syntax.Steps(low, low + extra), st.integers(0, 3), st.integers(0, 4))


def propositional(atoms=ATOMS, depth=4):
    leaves = st.sampled_from([syntax.Constant(True), syntax.Constant(False)]) | st.sampled_from(
        [syntax.Atom(name) for name in atoms]
    )
    return st.recursive(leaves, _combine, max_leaves=2**depth)


def _combine(inner):
    chain = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return (
        st.builds(syntax.Not, inner)
        | st.builds(syntax.And, chain)
        | st.builds(syntax.Or, chain)
        | st.builds(syntax.Implies, inner, inner)
        | st.builds(syntax.Iff, inner, inner)
    )


def paths(inner, bounds=steps):
    return (
        st.builds(syntax.Next, inner)
        | st.builds(syntax.Eventually, inner, bounds)
        | st.builds(syntax.Globally, inner, bounds)
        | st.builds(syntax.Until, inner, inner, bounds)
        | st.builds(syntax.WeakUntil, inner, inner, bounds.map(lambda s: syntax.Steps(0, s.upper)))
        | st.builds(syntax.Release, inner, inner, bounds)
    )


optima = st.sampled_from([None, "min", "max"])


def states(atoms=ATOMS, bounds=steps, numbers=thresholds):
    """State formulas with nested probability operators."""

    def extend(inner):
        bound = st.builds(
            syntax.ProbabilityBound,
            st.sampled_from([">=", ">", "<=", "<"]),
            numbers,
            paths(inner, bounds),
            optima,
        )
        return _combine(inner) | bound

    return st.recursive(propositional(atoms, depth=1), extend, max_leaves=6)


def formulas():
    inner = states()
    return inner | paths(inner) | st.builds(syntax.ProbabilityQuery, paths(inner), optima)


def random_model(rng: np.random.Generator, actions: int, atoms=("a", "b", "c")) -> FiniteModel:
    """A sparse random model with ragged support, so that graphs have traps, cycles and sure things."""
    states = int(rng.integers(4, 14))
    kernel = np.zeros((states, actions, states))
    for state in range(states):
        for action in range(actions):
            successors = rng.choice(states, rng.integers(1, 5), replace=False)
            weight = rng.integers(1, 9, len(successors))
            kernel[state, action, successors] = weight / weight.sum()
    labels = {name: rng.random(states) < 0.35 for name in atoms}
    return FiniteModel.chain(kernel[:, 0], labels) if actions == 1 else FiniteModel.mdp(kernel, labels)

"""Formulas on labels: is Ψ true in these states, is φ true of these traces?

Vectorised, and the same code for NumPy and for JAX (inside `jit` too): only operators and functions that
both have. Labels come as a mapping from atom to a Boolean array, all of one shape; `compile_formula` takes
one array with an axis of atoms instead and checks everything that can be checked before any data is there.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ambs.errors import FormulaError
from ambs.logic import syntax
from ambs.logic.parser import as_formula
from ambs.logic.syntax import as_until

# NumPy or JAX, concrete or traced; a Boolean array of any shape.
BoolArray = Any
Labels = Mapping[str, BoolArray]


def require_atoms(formula: syntax.Formula, available: Iterable[str]) -> None:
    """Every atom of `formula` is among the `available` ones, or an error that lists those that exist."""
    known = sorted(available)
    for name in sorted(formula.atoms):
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f' (did you mean "{near[0]}"?)' if near else ""
            have = ", ".join(f'"{atom}"' for atom in known) or "none"
            raise FormulaError(f'there is no atom "{name}"{meant}; the atoms here are: {have}.')


def look_ahead(path: syntax.PathFormula) -> int | None:
    """How many transitions decide the path formula at the latest; None when no number does."""
    if isinstance(path, syntax.Next):
        return 1
    return as_until(path)[0].steps.upper


def holds(formula: str | syntax.Formula, labels: Labels) -> BoolArray:
    """Whether the propositional `formula` is true, elementwise over arrays of labels."""
    formula = as_formula(formula)
    _require_propositional(formula)
    require_atoms(formula, labels)
    xp, arrays = _prepare(labels)
    return _holds(formula, arrays, xp, _shape(arrays))


def satisfies(path: str | syntax.Formula, labels: Labels, *, axis: int = -1) -> BoolArray:
    """Whether each trace satisfies the bounded path formula; time runs along `axis`, state 0 first.

    A trace has to be at least as long as the formula looks ahead (n transitions are n+1 states): on a
    shorter one the formula has no value. States beyond the look-ahead are ignored.
    """
    path = as_formula(path)
    steps = _require_bounded(path)
    require_atoms(path, labels)
    xp, arrays = _prepare(labels)
    arrays = {name: xp.moveaxis(array, axis, -1) for name, array in arrays.items()}
    shape = _shape(arrays)
    if arrays and (not shape or shape[-1] < steps + 1):
        length = shape[-1] if shape else 0
        raise FormulaError(
            f"'{path}' looks {steps} steps ahead, so a trace needs {steps + 1} states, and these have {length}."
        )
    arrays = {name: array[..., : steps + 1] for name, array in arrays.items()}
    window = (*shape[:-1], steps + 1)
    if isinstance(path, syntax.Next):
        return _holds(path.operand, arrays, xp, window)[..., 1]
    assert isinstance(path, syntax.PathFormula)
    until, negated = as_until(path)
    left, right = (_holds(part, arrays, xp, window) for part in (until.left, until.right))
    # Φ1 holds strictly before step i exactly when i is no later than the first step at which it fails.
    first_failure = xp.where(xp.all(left, axis=-1), steps, xp.argmin(left, axis=-1))
    step = xp.reshape(xp.arange(steps + 1), (1,) * (left.ndim - 1) + (-1,))
    in_time = (step >= until.steps.lower) & (step <= first_failure[..., None])
    reached = xp.any(right & in_time, axis=-1)
    return ~reached if negated else reached


def compile_formula(formula: str | syntax.Formula, atoms: Sequence[str]) -> Callable[[BoolArray], BoolArray]:
    """A function of one array of labels, its last axis in the order of `atoms`.

    For a propositional formula it maps `[..., atoms]` to `[...]`; for a bounded path formula it maps traces
    `[..., time, atoms]` to `[...]`. Atoms, bounds and nesting are checked now, not when data arrives.
    """
    formula = as_formula(formula)
    require_atoms(formula, atoms)
    index = {name: list(atoms).index(name) for name in atoms}
    on_traces = isinstance(formula, syntax.PathFormula)
    if on_traces:
        _require_bounded(formula)
    else:
        _require_propositional(formula)

    def compiled(labels: BoolArray) -> BoolArray:
        if labels.shape[-1:] != (len(index),):
            raise FormulaError(
                f"the last axis of the labels has to be the {len(index)} atoms {', '.join(index)}; "
                f"the array has shape {tuple(labels.shape)}."
            )
        named = {name: labels[..., position] for name, position in index.items()}
        return satisfies(formula, named) if on_traces else holds(formula, named)

    return compiled


def _holds(formula: syntax.Formula, arrays: Labels, xp: ModuleType, shape: tuple[int, ...]) -> BoolArray:
    match formula:
        case syntax.Constant(value):
            return xp.full(shape, value)
        case syntax.Atom(name):
            return arrays[name]
        case syntax.Not(operand):
            return ~_holds(operand, arrays, xp, shape)
        case syntax.And(parts):
            result = _holds(parts[0], arrays, xp, shape)
            for part in parts[1:]:
                result = result & _holds(part, arrays, xp, shape)
            return result
        case syntax.Or(parts):
            result = _holds(parts[0], arrays, xp, shape)
            for part in parts[1:]:
                result = result | _holds(part, arrays, xp, shape)
            return result
        case syntax.Implies(left, right):
            return ~_holds(left, arrays, xp, shape) | _holds(right, arrays, xp, shape)
        case syntax.Iff(left, right):
            return ~(_holds(left, arrays, xp, shape) ^ _holds(right, arrays, xp, shape))
    raise AssertionError(formula)


def _require_propositional(formula: syntax.Formula) -> None:
    for node in formula.walk():
        if not isinstance(node, syntax.StateFormula) or isinstance(node, syntax.ProbabilityBound):
            raise FormulaError(
                f"'{node}' cannot be read off the labels of one state; give a propositional formula such as "
                "!hit & (surface => diver)."
            )


def _require_bounded(path: syntax.Formula) -> int:
    if not isinstance(path, syntax.PathFormula):
        raise FormulaError(f"'{path}' is not a path formula such as G<=30 !acid; traces satisfy only those.")
    for child in path.children:
        _require_propositional(child)
    steps = look_ahead(path)
    if steps is None:
        raise FormulaError(f"'{path}' has no upper step bound, so no finite trace decides it; write e.g. G<=30.")
    return steps


def _prepare(labels: Labels) -> tuple[ModuleType, dict[str, BoolArray]]:
    """The array library of the labels, and the labels as Boolean arrays of it."""
    arrays = {
        name: value if hasattr(value, "__array_namespace__") else np.asarray(value) for name, value in labels.items()
    }
    spaces = {array.__array_namespace__() for array in arrays.values()}
    # A mixture of NumPy and JAX is JAX's to compute.
    xp = next((space for space in spaces if space is not np), np)
    for name, array in arrays.items():
        if not (xp.isdtype(array.dtype, "bool") or xp.isdtype(array.dtype, "integral")):
            raise FormulaError(f'the label "{name}" has dtype {array.dtype}; labels are Boolean (or 0 and 1).')
    return xp, {name: xp.asarray(array).astype(bool) for name, array in arrays.items()}


def _shape(arrays: Labels) -> tuple[int, ...]:
    shapes = {name: tuple(array.shape) for name, array in arrays.items()}
    if len(set(shapes.values())) > 1:
        listed = ", ".join(f"{name} {shape}" for name, shape in shapes.items())
        raise FormulaError(f"all labels have to have one shape, and these differ: {listed}.")
    return next(iter(shapes.values()), ())

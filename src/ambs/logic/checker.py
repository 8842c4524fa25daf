"""Exact model checking: the probability of every PCTL formula in every state of a finite model.

Bounded operators by as many sparse products as the bound has steps, all states at once; unbounded ones by
`solve`. `G`, `F`, `W` and `R` are an until, perhaps negated, with minimum and maximum swapped when it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from ambs.errors import FormulaError, ModelError
from ambs.logic import syntax
from ambs.logic.graph import Graph, StateSet
from ambs.logic.model import FiniteModel
from ambs.logic.parser import as_formula
from ambs.logic.semantics import require_atoms
from ambs.logic.solve import Vector, until_probability
from ambs.logic.syntax import as_until

_OPPOSITE: dict[syntax.Optimum, syntax.Optimum] = {"min": "max", "max": "min"}


@dataclass(frozen=True)
class CheckResult:
    """The answer in every state.

    Attributes:
        values: the probability that the outermost `P` speaks of; None when the formula has no outermost `P`.
        satisfied: where a state formula holds; None for a query, which asks for a number.
        error: a proved bound on the error of every entry of `values`, for the transition probabilities as
            they are stored, in double precision, and for nested comparisons as they were decided.
        borderline: how many comparisons with a threshold, nested ones included, were closer to it than the
            error. Those are read as equal, so `>=` holds and `>` does not.
    """

    values: Float[np.ndarray, " states"] | None
    satisfied: Bool[np.ndarray, " states"] | None
    error: float
    borderline: int


def check(model: FiniteModel, formula: str | syntax.Formula, *, precision: float = 1e-8) -> CheckResult:
    """Checks `formula` in every state of `model`.

    Every probability inside is certified to within `precision`, or a `ModelError` says what could be proved.
    """
    formula = as_formula(formula)
    if isinstance(formula, syntax.PathFormula):
        raise FormulaError(f"'{formula}' is a path formula; ask for its probability: P=? [ {formula} ].")
    if not precision > 0:
        raise FormulaError(f"the precision is {precision:g}, and has to be above 0.")
    require_atoms(formula, model.labels)
    run = _Checker(model, precision)
    match formula:
        case syntax.ProbabilityQuery(path, optimum):
            if optimum is None and not model.is_chain:
                raise FormulaError(
                    "P=? has no one answer on an MDP, because it depends on the policy; ask Pmin=? or Pmax=?."
                )
            values, error = run.probability(path, optimum or "min")
            return CheckResult(values, None, error, run.borderline)
        case syntax.ProbabilityBound():
            values, satisfied, error = run.bound(formula)
            return CheckResult(values, satisfied, error, run.borderline)
    assert isinstance(formula, syntax.StateFormula)
    return CheckResult(None, run.states(formula), 0.0, run.borderline)


class _Checker:
    """One run over one model, counting the comparisons that were too close to call."""

    def __init__(self, model: FiniteModel, precision: float) -> None:
        self.model = model
        self.graph = Graph(model)
        self.precision = precision
        self.borderline = 0

    def states(self, formula: syntax.StateFormula) -> StateSet:
        match formula:
            case syntax.Constant(value):
                return np.full(self.model.states, value)
            case syntax.Atom(name):
                return self.model.labels[name]
            case syntax.Not(operand):
                return ~self.states(operand)
            case syntax.And(parts):
                return np.logical_and.reduce([self.states(part) for part in parts])
            case syntax.Or(parts):
                return np.logical_or.reduce([self.states(part) for part in parts])
            case syntax.Implies(left, right):
                return ~self.states(left) | self.states(right)
            case syntax.Iff(left, right):
                return self.states(left) == self.states(right)
            case syntax.ProbabilityBound():
                return self.bound(formula)[1]
        raise FormulaError(f"'{formula}' cannot stand inside another formula.")

    def bound(self, formula: syntax.ProbabilityBound) -> tuple[Vector, StateSet, float]:
        """`P>=p` and `P>p` ask the worst policy, `P<=p` and `P<p` the best, unless told which."""
        wanted = formula.optimum or ("min" if formula.comparison in (">=", ">") else "max")
        values, error = self.probability(formula.path, wanted)
        if formula.threshold in (0.0, 1.0):
            # Whether a probability is exactly 0 or 1 is a question to the graph, not to digits.
            reached = self.certainty(formula.path, wanted)[int(formula.threshold)]
            above, below = (~reached, False) if formula.threshold == 0 else (False, ~reached)
        else:
            close = np.abs(values - formula.threshold) <= error
            self.borderline += int(close.sum())
            above, below = (values > formula.threshold) & ~close, (values < formula.threshold) & ~close
        truth = {">=": np.logical_not(below), ">": above, "<=": np.logical_not(above), "<": below}
        return values, np.broadcast_to(truth[formula.comparison], self.model.states).copy(), error

    def certainty(self, path: syntax.PathFormula, optimum: syntax.Optimum) -> tuple[StateSet, StateSet]:
        """Where the probability is exactly 0, and where it is exactly 1."""
        if isinstance(path, syntax.Next):
            inside = self.states(path.operand)
            return ~self.graph.some_successor(inside, optimum), self.graph.every_successor(inside, optimum)
        until, negated = as_until(path)
        wanted = _OPPOSITE[optimum] if negated else optimum
        left, right = self.states(until.left), self.states(until.right)
        steps = until.steps
        if steps.upper is None:
            zero = self.graph.prob0(left, right, wanted)
            possible, sure = ~zero, self.graph.prob1(left, right, wanted, zero)
        else:
            possible = sure = right
            for _ in range(steps.upper - steps.lower):
                before = possible, sure
                possible = right | (left & self.graph.some_successor(possible, wanted))
                sure = right | (left & self.graph.every_successor(sure, wanted))
                if np.array_equal(before, (possible, sure)):
                    break
        for _ in range(steps.lower):
            before = possible, sure
            possible = left & self.graph.some_successor(possible, wanted)
            sure = left & self.graph.every_successor(sure, wanted)
            if np.array_equal(before, (possible, sure)):
                break
        return (sure, ~possible) if negated else (~possible, sure)

    def probability(self, path: syntax.PathFormula, optimum: syntax.Optimum) -> tuple[Vector, float]:
        if isinstance(path, syntax.Next):
            return self._backup(self.states(path.operand).astype(float), optimum), self._rounding(1)
        until, negated = as_until(path)
        left, right = self.states(until.left), self.states(until.right)
        values, error = self._until(left, right, until.steps, _OPPOSITE[optimum] if negated else optimum)
        return (1.0 - values if negated else values), error

    def _until(
        self, left: StateSet, right: StateSet, steps: syntax.Steps, optimum: syntax.Optimum
    ) -> tuple[Vector, float]:
        if steps.upper is None:
            values, error = until_probability(self.graph, left, right, optimum)
            if error > self.precision:
                raise ModelError(
                    f"an unbounded operator could be certified only to ±{error:.1e}, and {self.precision:.1e} "
                    "was asked for; allow a larger precision, or bound the operator."
                )
        else:
            reached = right.astype(float)
            values, error = (
                self._repeat(reached, reached, left & ~right, steps.upper - steps.lower, optimum),
                0.0,
            )
        # Before the lower bound `right` does not count yet, and `left` has to hold.
        values = self._repeat(values, np.zeros(self.model.states), left, steps.lower, optimum)
        return values, error + self._rounding(steps.upper or steps.lower)

    def _repeat(
        self, values: Vector, otherwise: Vector, where: StateSet, times: int, optimum: syntax.Optimum
    ) -> Vector:
        """`times` backups: the states in `where` get the value of their successors, the rest `otherwise`."""
        if times == 0:
            return values
        keep = np.flatnonzero(~where)
        fixed = otherwise[keep]
        for step in range(times):
            before, values = values, self._backup(values, optimum)
            values[keep] = fixed
            # A bound of a million steps on a model that settles in a hundred.
            if step % 64 == 63 and np.array_equal(before, values):
                break
        return values

    def _backup(self, values: Vector, optimum: syntax.Optimum) -> Vector:
        return _optimum(self.model.kernel @ values, self.model.choice_start[:-1], optimum)

    def _rounding(self, steps: int) -> float:
        width = int(np.diff(self.model.kernel.indptr).max())
        return steps * (width + 1) * 2.0**-53


def _optimum(
    per_choice: Float[np.ndarray, " choices"], start: Int[np.ndarray, " states"], optimum: syntax.Optimum
) -> Vector:
    """The best or worst choice of each state, whose first choice `start` names."""
    if len(start) == len(per_choice):
        return per_choice
    return (np.maximum if optimum == "max" else np.minimum).reduceat(per_choice, start)

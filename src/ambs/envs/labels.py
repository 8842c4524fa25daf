"""Labels and their cost: what makes a Gymnasium environment one that can be shielded.

`info["labels"]` says which atoms are true in the state just entered, and `info["cost"]` what the safety formula Ψ makes
of them,

    cost(s) = 0 if L(s) ⊨ Ψ, else C

An environment that knows its labels computes the cost with `Costs`, or with `cost_of` for many states at once; any
other becomes such an environment when `labelling.py` wraps it.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ambs.errors import AmbsError
from ambs.logic import holds, require_atoms
from ambs.logic.parser import as_formula
from ambs.logic.syntax import Formula


def cost_of(formula: str | Formula, labels: Mapping[str, Any], cost: Any = 10.0) -> Any:
    """0 where the propositional `formula` holds and `cost` where it does not, elementwise over arrays of labels."""
    if isinstance(cost, bool) or not isinstance(cost, numbers.Real) or not (math.isfinite(cost) and float(cost) > 0):
        raise AmbsError(f"cost is {cost!r}, and has to be a positive number.")
    return np.where(holds(formula, labels), 0.0, float(cost))[()]


class Costs:
    """The cost of one state after the other; each combination of labels is judged once, for there are few.

    What is wrong with the formula or with C is said when this is made, and not after a million steps.
    """

    def __init__(self, formula: str | Formula, cost: float = 10.0, *, atoms: Iterable[str] | None = None) -> None:
        self.formula = as_formula(formula)
        self.cost = cost
        if atoms is not None:
            require_atoms(self.formula, atoms)
        cost_of(self.formula, dict.fromkeys(self.formula.atoms, False), cost)
        self._known: dict[tuple[tuple[str, bool], ...], float] = {}

    def __call__(self, labels: Mapping[str, bool]) -> float:
        key = tuple(labels.items())
        if key not in self._known:
            self._known[key] = float(cost_of(self.formula, labels, self.cost))
        return self._known[key]


def as_labels(labels: Any, atoms: Iterable[str] | None = None) -> dict[str, bool]:
    """Labels as a dictionary from atom to bool, which Gymnasium's vector environments stack.

    They may also come as the names of the true atoms; then `atoms` has to say which there are.
    """
    if isinstance(labels, Mapping):
        return {name: truth(name, value) for name, value in labels.items()}
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise AmbsError(
            f"labels are a dictionary from atom to bool or the names of the true atoms, and not {labels!r}."
        )
    if atoms is None:
        raise AmbsError("labels that name only the true atoms need the list of all atoms; give atoms=[...].")
    known, true = list(atoms), set(labels)
    if unknown := sorted(true - set(known)):
        raise AmbsError(f'the label "{unknown[0]}" is not among the atoms, which are: {", ".join(known)}.')
    return {name: name in true for name in known}


def truth(name: str, value: Any) -> bool:
    """A label's value as a bool. Numbers are refused, 0 and 1 too: a distance or a count would always be true."""
    if isinstance(value, bool) or (getattr(value, "dtype", None) == np.bool_ and np.ndim(value) == 0):
        return bool(value)
    what = f"an array of shape {np.shape(value)}" if np.ndim(value) else repr(value)
    raise AmbsError(f'the label "{name}" is {what}, and has to be True or False; compare, or wrap it in bool().')

"""Labels and their cost: what makes a Gymnasium environment one that can be shielded.

`info["labels"]` says which atoms are true in the state just entered, and `info["cost"]` what the safety formula Ψ makes
of them,

    cost(s) = 0 if L(s) ⊨ Ψ, else C

An environment that knows its labels computes the cost with `cost_of`; any other becomes such an environment when
wrapped in `Labelled`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import gymnasium
import numpy as np

from ambs.errors import AmbsError
from ambs.logic import holds, parse, require_atoms
from ambs.logic.syntax import Formula

# Atom → whether it is true, or the names of the true ones.
Labels = Mapping[str, Any] | Iterable[str]


def cost_of(formula: str | Formula, labels: Mapping[str, Any], cost: float = 10.0) -> Any:
    """0 where the propositional `formula` holds and `cost` where it does not, elementwise over arrays of labels."""
    if not (math.isfinite(cost) and cost > 0):
        raise AmbsError(f"cost is {cost:g}, and has to be a positive number.")
    return np.where(holds(read(formula), labels), 0.0, float(cost))[()]


def read(formula: str | Formula) -> Formula:
    """The formula, from text if need be."""
    return parse(formula) if isinstance(formula, str) else formula


def as_labels(labels: Labels, atoms: Iterable[str] | None = None) -> dict[str, bool]:
    """Labels as a dictionary, which Gymnasium's vector environments stack; names of true atoms need all `atoms`."""
    if isinstance(labels, Mapping):
        return {name: bool(value) for name, value in labels.items()}
    if atoms is None:
        raise AmbsError("labels that name only the true atoms need the list of all atoms; give atoms=[...].")
    known, true = list(atoms), set(labels)
    if unknown := sorted(true - set(known)):
        raise AmbsError(f'the label "{unknown[0]}" is not among the atoms, which are: {", ".join(known)}.')
    return {name: name in true for name in known}


class Labelled(gymnasium.Wrapper[Any, Any, Any, Any], gymnasium.utils.RecordConstructorArgs):
    """Any environment, with the labels and the cost that a shield and its training need in `info`.

    Args:
        env: The environment.
        formula: Ψ, propositional: what has to hold in every state.
        cost: C, the cost of a state where it does not.
        atoms: All atoms, if the labels are names of the true ones only.
        labelling: The labels, from an observation and its `info`. If not given they are in `info["labels"]` already.
    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        formula: str | Formula,
        cost: float = 10.0,
        *,
        atoms: Iterable[str] | None = None,
        labelling: Callable[[Any, dict[str, Any]], Labels] | None = None,
    ) -> None:
        self._formula = read(formula)
        self._cost = cost
        self._atoms = None if atoms is None else list(atoms)
        self._labelling = labelling
        # There are few combinations of labels and many steps.
        self._costs: dict[tuple[tuple[str, bool], ...], float] = {}
        gymnasium.utils.RecordConstructorArgs.__init__(
            self, formula=str(self._formula), cost=cost, atoms=self._atoms, labelling=labelling
        )
        gymnasium.Wrapper.__init__(self, env)
        # What is wrong with the formula is said now, and not after a million steps.
        if self._atoms is not None:
            require_atoms(self._formula, self._atoms)
        cost_of(self._formula, dict.fromkeys(self._formula.atoms, False), cost)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._with_cost(observation, info)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        return observation, reward, terminated, truncated, self._with_cost(observation, info)

    def _with_cost(self, observation: Any, info: dict[str, Any]) -> dict[str, Any]:
        if self._labelling is not None:
            given = self._labelling(observation, info)
        elif "labels" in info:
            given = info["labels"]
        else:
            raise AmbsError(
                f"{self.env} puts no labels into its info, and '{self._formula}' is about them; give labelling=."
            )
        labels = as_labels(given, self._atoms)
        key = tuple(labels.items())
        if key not in self._costs:
            self._costs[key] = float(cost_of(self._formula, labels, self._cost))
        return {**info, "labels": labels, "cost": self._costs[key]}

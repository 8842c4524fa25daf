"""Whether a formula can be true at all: one that contradicts itself is broken everywhere, whatever the agent does."""

from __future__ import annotations

import numpy as np

from ambs.logic import syntax
from ambs.logic.parser import as_formula
from ambs.logic.semantics import holds

# Of all 2^n labellings no more than these are tried; a formula of more atoms is taken for one that can be true.
_ATOMS = 16


def satisfiable(formula: str | syntax.Formula) -> bool:
    """Whether some labelling satisfies the propositional formula."""
    formula = as_formula(formula)
    atoms = sorted(formula.atoms)
    if len(atoms) > _ATOMS:
        return True
    every = np.arange(2 ** len(atoms))
    return bool(np.any(holds(formula, {atom: every >> bit & 1 == 1 for bit, atom in enumerate(atoms)})))

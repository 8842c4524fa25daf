"""The same questions put to Storm, set to its most precise solvers, as a check that nobody here wrote."""

import numpy as np
import stormpy
from stormpy import environments, models
from stormpy.datastructures import BitVector, SparseMatrixBuilder

from ambs.logic import FiniteModel
from ambs.logic.storm import storm_text
from ambs.logic.syntax import Formula, ProbabilityQuery


def to_storm(model: FiniteModel):
    kernel = model.kernel.copy()
    kernel.sort_indices()
    rows = np.repeat(np.arange(model.choices), np.diff(kernel.indptr)).tolist()
    entries = (rows, kernel.indices.tolist(), kernel.data.tolist())
    shape = {"rows": model.choices, "columns": model.states, "entries": model.transitions}
    if model.is_chain:
        builder = SparseMatrixBuilder(**shape)
        builder.add_next_values(*entries, [])
    else:
        builder = SparseMatrixBuilder(**shape, has_custom_row_grouping=True, row_groups=model.states)
        builder.add_next_values(*entries, model.choice_start[:-1].tolist())
    labelling = models.StateLabeling(model.states)
    for name, mask in {"init": np.arange(model.states) == model.initial, **model.labels}.items():
        labelling.add_label(name)
        labelling.set_states(name, BitVector(model.states, np.flatnonzero(mask).tolist()))
    parts = models.SparseModelComponents(transition_matrix=builder.build(), state_labeling=labelling)
    return models.SparseDtmc(parts) if model.is_chain else models.SparseMdp(parts)


def precise():
    """Storm's sound solvers, asked for 1e-12 where their default is 1e-6."""
    environment = environments.sound()
    solver = environment.solver()
    for part in (solver.native(), solver.min_max()):
        part.precision = stormpy.Rational("1/1000000000000")
        part.relative_termination_criterion = False
    return environment


def ask_storm(storm_model, states: int, formula: Formula) -> np.ndarray:
    """The value (or truth, for a state formula) in every state."""
    text, complement = storm_text(formula)
    result = stormpy.model_checking(storm_model, stormpy.parse_properties(text)[0], environment=precise())
    if not isinstance(formula, ProbabilityQuery):
        return np.array([result[state] for state in range(states)])
    values = np.array([result.get_value(state) for state in range(states)])
    return 1 - values if complement else values

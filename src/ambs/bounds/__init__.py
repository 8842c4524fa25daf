"""How many traces and how much experience a claim takes: the paper's theorems, corrected, and tightened."""

from ambs.bounds.bound import Bound as Bound
from ambs.bounds.catalogue import BOUNDS as BOUNDS
from ambs.bounds.catalogue import rows as rows
from ambs.bounds.exact import exact_traces_required as exact_traces_required
from ambs.bounds.modelling import model_error as model_error
from ambs.bounds.modelling import null_violation_rate as null_violation_rate
from ambs.bounds.modelling import tv_budget as tv_budget
from ambs.bounds.modelling import tv_for_error as tv_for_error
from ambs.bounds.traces import traces_required as traces_required
from ambs.bounds.values import hoeffding_value_error as hoeffding_value_error
from ambs.bounds.values import variance_aware_error as variance_aware_error
from ambs.bounds.visits import visits_required as visits_required

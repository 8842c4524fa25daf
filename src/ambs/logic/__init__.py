"""PCTL: formulas, their meaning on labels and traces, and exact checking of finite models."""

from ambs.logic.checker import CheckResult as CheckResult
from ambs.logic.checker import check as check
from ambs.logic.model import FiniteModel as FiniteModel
from ambs.logic.parser import parse as parse
from ambs.logic.prism import read_prism as read_prism
from ambs.logic.prism import write_prism as write_prism
from ambs.logic.robust import robust_bounded_globally as robust_bounded_globally
from ambs.logic.satisfiable import satisfiable as satisfiable
from ambs.logic.semantics import compile_formula as compile_formula
from ambs.logic.semantics import holds as holds
from ambs.logic.semantics import look_ahead as look_ahead
from ambs.logic.semantics import require_atoms as require_atoms
from ambs.logic.semantics import satisfies as satisfies

"""Do the parts of a shield fit the formula and each other? Asked before anything is imagined.

JAX would not ask: an index beyond a table is clamped to its edge, so a wrong state is judged as another one.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ambs.errors import AmbsError, FormulaError, ModelError
from ambs.logic import require_atoms, syntax
from ambs.shield.criteria import CostCriterion, Criterion, LabelCriterion, TailedCriterion
from ambs.shield.stat_tests import StatTest
from ambs.types import Model, Policy

# What a test that names no δ of its own is held to: the δ of the default ladder.
DELTA = 0.01

ONE_STATE = "a shield judges one state at a time; for a batch use jax.vmap, with one key a state"


def require_parts(model: Any, task: Any, backup: Any, test: Any) -> None:
    """Each part can be asked what a shield asks it."""
    for name, part, method, hint in (
        ("model", model, "step", "ambs.TabularModel makes one of a table"),
        ("task policy", task, "sample", "ambs.TabularPolicy makes one of a table"),
        ("backup policy", backup, "sample", "ambs.TabularPolicy makes one of a table"),
        ("test", test, "looks", 'for example ambs.Ladder.level("A")'),
    ):
        if not hasattr(part, method):
            raise AmbsError(f"the {name} is of type {type(part).__name__}, which has no `{method}`; {hint}.")


def require_test(test: StatTest, formula: syntax.ProbabilityBound) -> None:
    """The test excludes every violation probability that the formula does not tolerate."""
    tolerated = 1 - formula.threshold
    p0, at = getattr(test, "p0", None), ""
    # P(accept) falls as violations grow likelier, so one value tells; the rate itself is only for the sentence.
    if p0 is None and test.accept_probability(formula.threshold) > DELTA:
        p0, at = test.certified_rate(DELTA), f" (at delta = {DELTA:g})"
    if p0 is not None and p0 > tolerated + 1e-9:
        raise FormulaError(
            f"the test excludes violation probabilities from {p0:.4g} on{at}, and '{formula}' tolerates only "
            f"{tolerated:g}; use ambs.Ladder.design({tolerated:g}, delta)."
        )


def require_criterion(criterion: Criterion, formula: syntax.ProbabilityBound, model: Model) -> None:
    """The criterion judges what the formula says, by what the model predicts."""
    labels = getattr(model, "labels", None)
    if isinstance(criterion, LabelCriterion | TailedCriterion) and labels is not None:
        require_atoms(formula, labels)
    if isinstance(criterion, CostCriterion):
        if not getattr(model, "has_costs", True):
            raise ModelError(
                "the criterion judges traces by their cost, and this model has no costs: every trace would pass; give "
                "the model costs, or leave the criterion out to judge by labels."
            )
        within = syntax.Steps(0, criterion.horizon)
        if not isinstance(formula.path, syntax.Globally) or formula.path.steps != within:
            raise FormulaError(
                f"the criterion judges the cost of {criterion.horizon} steps, and '{formula}' is not of the form "
                f"P>=p [ G<={criterion.horizon} safe ]; give both one horizon."
            )


def require_tables(model: Model, **policies: Policy) -> None:
    """Policies that number their states or actions have as many of them as the model."""
    shape = getattr(model, "table_shape", None)
    if shape is None:
        return
    for name, policy in policies.items():
        theirs = getattr(policy, "table_shape", (None, None))
        for what, wanted, found in zip(("states", "actions"), shape, theirs, strict=True):
            if found is not None and found != wanted:
                raise ModelError(f"the {name} policy has {found} {what}, and the model has {wanted}.")


def require_numbers(shape: tuple[int, int], state: Any, action: Any) -> None:
    """One state and one action of a table of this shape; inside `jit`, where values are not known, their kind alone."""
    for what, value, count in (("state", state, shape[0]), ("action", action, shape[1])):
        array = value if isinstance(value, jax.Array) else np.asarray(value)
        if array.ndim:
            raise AmbsError(f"the {what} has shape {array.shape}: {ONE_STATE}.")
        known = not isinstance(array, jax.core.Tracer)
        if array.dtype.kind not in "iu" or (known and not 0 <= int(array) < count):
            shown = array if known else f"of type {array.dtype}"
            raise AmbsError(f"the {what} is {shown}, and has to be a whole number from 0 to {count - 1}.")

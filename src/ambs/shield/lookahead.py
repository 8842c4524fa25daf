"""Algorithm 1: imagine what follows the proposed action; play it if the formula is likely enough to hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.errors import AmbsError, FormulaError, ModelError, positive_integer, probability
from ambs.logic import parse, syntax
from ambs.shield.callbacks import original_errors
from ambs.shield.criteria import Criterion, LabelCriterion
from ambs.shield.fitting import (
    DELTA,
    ONE_STATE,
    require_criterion,
    require_numbers,
    require_parts,
    require_tables,
    require_test,
)
from ambs.shield.imagine import imagine
from ambs.shield.rounds import Course, Rounds
from ambs.shield.stat_tests import Ladder, StatTest
from ambs.shield.stat_tests.interval import interval_table
from ambs.shield.watching import Watched, lost
from ambs.types import Action, Decision, Model, Policy, State


def safety_formula(
    formula: str | syntax.Formula, *, Delta: float = 0.1, horizon: int = 30, exact: bool = False
) -> syntax.ProbabilityBound:
    """The formula of a shield, `P>=1-Δ [ φ ]` with a bounded φ; a propositional Ψ becomes `P>=1-Δ [ G<=horizon Ψ ]`.

    A shield that is `exact` may ask for certainty, `P>=1`.
    """
    parsed = parse(formula) if isinstance(formula, str) else formula
    if isinstance(parsed, syntax.StateFormula) and not isinstance(parsed, syntax.ProbabilityBound):
        if not (exact and Delta == 0):
            probability("Delta", Delta)
        path = syntax.Globally(parsed, syntax.Steps(0, positive_integer("the horizon", horizon)))
        parsed = syntax.ProbabilityBound(">=", 1 - Delta, path)
    if not isinstance(parsed, syntax.ProbabilityBound) or parsed.comparison not in (">=", ">"):
        raise FormulaError(
            f"a shield checks formulas of the form P>=p [ G<=n safe ], and '{parsed}' is not of that form."
        )
    if parsed.threshold in (0, 1) and not exact:
        raise FormulaError(
            f"'{parsed}' asks for a probability of {parsed.threshold:g}, which samples can neither confirm nor refute; "
            "choose one between, such as P>=0.9."
        )
    if parsed.threshold == 0 or (parsed.comparison, parsed.threshold) == (">", 1):
        raise FormulaError(f"'{parsed}' refuses nothing or everything; choose a p above 0, up to P>=1.")
    # Said here, where nothing has been built or trained yet.
    LabelCriterion(parsed.path)
    return parsed


class LookaheadShield(eqx.Module):
    """A shield around any policy, given any model.

    What may be claimed: whenever the proposed action is let through then, except with probability δ per check over
    the shield's own sampling, the *model* gives probability at least 1-Δ to the formula if the proposed action is
    played and the *task policy, unshielded*, after it. Nothing is claimed of the backup policy, or of an environment
    that differs from the model.

    Call it for one state, or vmap it over many: traces are drawn in the test's batches until every state of the batch
    is decided, and not further.

    Attributes:
        model: what to imagine in.
        task: the policy whose actions are proposed, and that is imagined to go on.
        backup: the policy that takes over.
        criterion: whether a trace satisfies the formula.
        formula: `P>=1-Δ [ φ ]`.
        test: decides from the traces.
    """

    model: Model
    task: Policy
    backup: Policy
    criterion: Criterion
    formula: syntax.ProbabilityBound = eqx.field(static=True)
    test: StatTest = eqx.field(static=True)
    _low: Float[Array, "looks counts"]
    _high: Float[Array, "looks counts"]

    def __init__(
        self,
        model: Any,
        task: Any,
        backup: Any,
        formula: str | syntax.Formula,
        test: Any = None,
        *,
        criterion: Criterion | None = None,
        Delta: float = 0.1,
        horizon: int = 30,
        confidence: float = 0.95,
    ) -> None:
        """`Delta` and `horizon` are used only for a formula that does not set them.

        Without `test`, the ladder for the formula's Δ at δ = 0.01; without `criterion`, the formula on the labels that
        the model predicts. `confidence` is that of the intervals in the decisions.
        """
        self.formula = safety_formula(formula, Delta=Delta, horizon=horizon)
        tolerated = 1 - self.formula.threshold
        self.test = Ladder.design(tolerated, DELTA) if test is None else test
        require_parts(model, task, backup, self.test)
        require_test(self.test, self.formula)
        self.model, self.task, self.backup = model, task, backup
        self.criterion = LabelCriterion(self.formula.path) if criterion is None else criterion
        require_criterion(self.criterion, self.formula, model)
        require_tables(model, task=task, backup=backup)
        low, high = interval_table(self.test.looks, confidence)
        self._low, self._high = jnp.asarray(low, jnp.float32), jnp.asarray(high, jnp.float32)

    def __call__(self, state: State, proposed: Action, *, key: Any) -> Decision:
        shape = getattr(self.model, "table_shape", None)
        if shape is not None:
            require_numbers(shape, state, proposed)
        if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) and key.ndim:
            raise AmbsError(f"there are {key.size} keys: {ONE_STATE}.")
        # Python numbers would be compiled in, once for each value.
        state, proposed = jax.tree.map(jnp.asarray, (state, proposed))
        with original_errors():
            decision = _decide(self, state, proposed, key)
            broken = jnp.isnan(decision.estimate)
            known = not isinstance(broken, jax.core.Tracer) and bool(broken)
        if known:
            raise ModelError(
                "the model predicted NaN (or the task policy played it), so the shield cannot judge the action; look "
                "at the model's step."
            )
        return decision

    def trace(self, state: State, proposed: Action, key: PRNGKeyArray) -> tuple[Bool[Array, ""], Bool[Array, ""]]:
        """One imagined future: whether it satisfies the formula, and whether the model lost its mind."""
        trajectory = imagine(
            Watched(self.model), self.task, state, self.criterion.steps, key=key, first_action=proposed
        )
        judge = jax.random.fold_in(key, self.criterion.steps)
        return self.criterion(trajectory, key=judge), lost(trajectory)

    def draw(self, rounds: Rounds, course: Course, state: State, proposed: Action, key: PRNGKeyArray) -> Course:
        """One round more."""
        keys = jax.random.split(jax.random.fold_in(key, course.drawn), rounds.unit)
        satisfied, lost = jax.vmap(lambda key: self.trace(state, proposed, key))(keys)
        return Course(course.drawn + 1, course.violations + jnp.sum(~satisfied), course.broken | jnp.any(lost))

    def judge(self, rounds: Rounds, course: Course, proposed: Action) -> Decision:
        """Whether the proposed action passes, and why; where it does not, the backup policy has still to be asked."""
        traces, at = course.drawn * rounds.unit, (rounds.look(course), course.violations)
        found = (1 - course.violations / traces, self._low[at], self._high[at])
        estimate, low, high = (jnp.where(course.broken, jnp.nan, each) for each in found)
        return Decision(proposed, rounds.refused(course), estimate, low, high, traces)


class NoShield(eqx.Module):
    """Plays what is proposed; for comparison."""

    def __call__(self, state: State, proposed: Action, *, key: PRNGKeyArray) -> Decision:
        nothing = jnp.asarray(jnp.nan)
        return Decision(proposed, jnp.asarray(False), nothing, nothing, nothing, jnp.asarray(0))


@eqx.filter_jit
def _decide(shield: LookaheadShield, state: State, proposed: Action, key: PRNGKeyArray) -> Decision:
    """The test as a loop of rounds.

    A loop, not one branch a look, because under vmap a branch would be computed for all environments anyway, while
    a loop ends when all are decided.
    """
    rounds = Rounds(shield.test)
    backup_key, traces_key = jax.random.split(key)
    course = jax.lax.while_loop(
        rounds.undecided, lambda course: shield.draw(rounds, course, state, proposed, traces_key), Course.start()
    )
    decision = shield.judge(rounds, course, proposed)
    action = jax.lax.cond(decision.overridden, *either_action(shield.backup, state, proposed, backup_key))
    return decision._replace(action=action)


def either_action(
    backup: Policy, state: State, proposed: Action, key: PRNGKeyArray
) -> tuple[Callable[[], Action], Callable[[], Action]]:
    """What the backup policy plays, and what was proposed, in the number format and shape that both have room in.

    The backup is asked only when the first is called: it may be one that searches.
    """

    def ask() -> Action:
        return backup.sample(state, key=key)

    room = jax.eval_shape(lambda: jax.tree.map(lambda mine, theirs: jnp.where(True, mine, theirs), ask(), proposed))

    def as_both(action: Action) -> Action:
        return jax.tree.map(
            lambda mine, both: jnp.broadcast_to(jnp.asarray(mine, both.dtype), both.shape), action, room
        )

    return lambda: as_both(ask()), lambda: as_both(proposed)

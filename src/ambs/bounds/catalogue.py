"""All bounds, and the table of what they say about one set of numbers."""

from collections.abc import Mapping

from ambs.bounds.bound import Bound
from ambs.bounds.exact import EXACT, EXACT_LEARNED
from ambs.bounds.modelling import MODEL_ERROR, MODEL_ERROR_PAPER, tv_for_error
from ambs.bounds.quantities import SYMBOLS, checked, listed, names
from ambs.bounds.traces import THEOREM_1, THEOREM_2_HALF, THEOREM_2_PAPER, THEOREM_2_SOUND
from ambs.bounds.values import VALUE_HOEFFDING, VARIANCE_AWARE
from ambs.bounds.visits import THEOREM_3_PAPER, WEISSMAN
from ambs.errors import AmbsError

BOUNDS: Mapping[str, Bound] = {
    bound.key: bound
    for bound in (
        THEOREM_1,
        EXACT,
        THEOREM_2_PAPER,
        THEOREM_2_HALF,
        THEOREM_2_SOUND,
        EXACT_LEARNED,
        MODEL_ERROR_PAPER,
        MODEL_ERROR,
        THEOREM_3_PAPER,
        WEISSMAN,
        VALUE_HOEFFDING,
        VARIANCE_AWARE,
    )
}


def rows(
    solve: str = "m",
    *,
    epsilon: float | None = 0.09,
    delta: float | None = 0.01,
    horizon: int | None = 30,
    traces: int | None = 512,
    visits: int | None = None,
    tv: float | None = None,
    error: float | None = None,
    safety_level: float | None = 0.1,
    states: int | None = None,
    actions: int | None = None,
    successors: int | None = None,
    mu: float | None = None,
    sides: int = 2,
    negligible_actions: bool = False,
) -> list[dict[str, object]]:
    """What every bound that has the quantity `solve` says about it, as plain values that JSON can hold.

    The defaults are the paper's. The value given for the quantity that is asked for is not used. A bound that
    cannot answer, because something is not given or because nothing would do, has no `value` but a `reason`.

    Args:
        solve: `m` (which is `traces` or `visits`, whatever the bound counts), `epsilon`, `delta`, `tv` (or
            `alpha`), `horizon` (or `n`), or `error`.
        epsilon: How far the estimate may be from the truth.
        delta: The probability with which a bound may fail; over the traces, or over the experience.
        horizon: The number n of steps that are to be safe.
        traces: The number m of sampled traces.
        visits: The number m of visits to every state and action.
        tv: The distance α per step between model and truth; if not given, the one that costs `error`.
        error: How far the model's probability of staying safe may be off; if not given, half of `epsilon`.
        safety_level: The probability Δ of a violation that the shield tolerates.
        states: The number of states.
        actions: The number of actions.
        successors: The largest number of states that can follow a state and action; `states` if not given.
        mu: The probability of staying safe, for the variance-aware bound; the worst case if not given.
        sides: 2 if an estimate may be neither too high nor too low, 1 if only too high matters.
        negligible_actions: Whether rare actions may be left unvisited.

    Returns:
        One dict per bound, with `key`, `title`, `source`, `sound`, `quantity`, `symbol`, `value`, `reason`,
        `given` (the numbers that went in), `statement`, `assumes`, `claims` and `warning`.
    """
    given: dict[str, float | None] = {
        "epsilon": epsilon,
        "delta": delta,
        "horizon": horizon,
        "traces": traces,
        "visits": visits,
        "tv": tv,
        "error": error,
        "safety_level": safety_level,
        "states": states,
        "actions": actions,
        "successors": successors,
        "mu": mu,
        "sides": sides,
        "negligible_actions": negligible_actions,
    }
    asked = [bound for bound in BOUNDS.values() if bound.has(solve)]
    if not asked:
        raise AmbsError(f"No bound has {solve!r}; solve for m, {listed(list(SYMBOLS))}.")
    known = {name: checked(name, value) for name, value in given.items() if value is not None}
    return [_row(bound, next(name for name in names(solve) if bound.has(name)), known) for bound in asked]


def _row(bound: Bound, unknown: str, known: Mapping[str, float]) -> dict[str, object]:
    told = _with_budget({name: value for name, value in known.items() if name != unknown}, unknown)
    told = {name: value for name, value in told.items() if name in bound.quantities + bound.parameters}
    value, reason = None, None
    try:
        value = bound.solve(unknown, **told)
    except AmbsError as problem:
        reason = str(problem)
    return {
        "key": bound.key,
        "title": bound.title,
        "source": bound.source,
        "sound": bound.sound,
        "quantity": unknown,
        "symbol": SYMBOLS[unknown],
        "value": value,
        "reason": reason,
        "given": told,
        "statement": bound.statement,
        "assumes": bound.assumes,
        "claims": bound.claims,
        "warning": bound.warning,
    }


def _with_budget(known: Mapping[str, float], unknown: str) -> dict[str, float]:
    """`known`, and unless given: half of ε for the model's error, and the distance per step that costs it."""
    told = dict(known)
    if "error" not in told and "epsilon" in told and unknown != "error":
        told["error"] = told["epsilon"] / 2
    if "tv" not in told and {"error", "horizon"} <= told.keys() and unknown != "tv":
        told["tv"] = tv_for_error(told["error"], int(told["horizon"]))
    return told

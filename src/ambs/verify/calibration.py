"""Calibration: what the shield estimates for a state and action, against the exact μ of the same.

μ(s, a) is the probability that the n states that follow are safe if a is played in s and the task policy goes on: by
model checking, on the conveyor, whose dynamics are known. With the true model any difference is the sampling's, and
the stopping's: a test that stops early stops on luck. With a model that is counted from visits its error comes on top,
which no interval of the shield's knows of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ambs.logic import FiniteModel
from ambs.shield import Fixed, Ladder, LookaheadShield, StatTest
from ambs.tabular import TabularModel, TabularPolicy
from ambs.verify import families
from ambs.verify.learned import counted
from ambs.verify.settings import HORIZON, Job, Row, Settings, Tables
from ambs.verify.statistics import expected_estimate, mean_interval, observed

SAFETY, CONFIDENCE = 0.9, 0.95
EDGES = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0])


@dataclass(frozen=True)
class Case:
    """A shield to calibrate: `visits` of each pair make its model, or it is the true one."""

    name: str
    test: StatTest
    visits: int | None = None


@dataclass(frozen=True)
class Decisions:
    """Many decisions, flat, with the exact μ of what was decided about."""

    exact: Float[np.ndarray, " n"]
    estimate: Float[np.ndarray, " n"]
    low: Float[np.ndarray, " n"]
    high: Float[np.ndarray, " n"]
    accepted: np.ndarray
    traces: np.ndarray
    sweep: np.ndarray

    def mean(self, values: Float[np.ndarray, " n"]) -> tuple[float, float, float]:
        """Mean and interval over sweeps, which are independent also when the decisions of one share a learned model."""
        sweeps = np.bincount(self.sweep, values) / np.bincount(self.sweep)
        return mean_interval(sweeps)

    def where(self, inside: np.ndarray) -> Decisions:
        return Decisions(*(getattr(self, name)[inside] for name in Decisions.__annotations__))


def jobs(settings: Settings) -> list[Job]:
    cases = [
        Case("true model, ladder A", Ladder.level("A")),
        Case("true model, 5 of 512", Fixed()),
        Case("counted, 20 visits, ladder A", Ladder.level("A"), 20),
        Case("counted, 200 visits, ladder A", Ladder.level("A"), 200),
    ]
    return [partial(_rows, settings, case) for case in (cases[::2] if settings.quick else cases)]


def exact_values(mdp: FiniteModel, policy: Float[np.ndarray, "states actions"]) -> Float[np.ndarray, "states actions"]:
    """μ(s, a): `G<=n-1 !unsafe` from the states that a leads to."""
    return (mdp.kernel @ families.exact(mdp.under(policy), HORIZON - 1)).reshape(mdp.states, -1)


def _rows(settings: Settings, case: Case, rng: np.random.Generator) -> Tables:
    maps = ("small",) if settings.quick else ("small", "figure1", "long-belt")
    drawn = [_decide(settings, case, rng, map, policy) for map in maps for policy in families.POLICIES]
    every = Decisions(*(np.concatenate([getattr(each, name) for each in drawn]) for name in Decisions.__annotations__))
    return {"calibration": [_summary(case, every)], "calibration_bins": _bins(case, every)}


def _decide(settings: Settings, case: Case, rng: np.random.Generator, map: str, policy: str) -> Decisions:
    """Sweeps over every state and action, each decision by a key of its own, each sweep with a model of its own."""
    mdp, probs = families.conveyor(map), families.conveyor_policy(map, policy)
    truth = exact_values(mdp, probs)
    states, actions = (jnp.asarray(each.ravel()) for each in np.indices(truth.shape))
    found = []
    for _ in range(settings.decisions):
        model = mdp if case.visits is None else counted(rng, mdp, case.visits)
        shield = _shield(model, TabularPolicy(probs), case.test)
        keys = jax.random.split(jax.random.key(int(rng.integers(2**31))), truth.size)
        found.append(jax.vmap(lambda s, a, k, shield=shield: shield(s, a, key=k))(states, actions, keys))
    stacked = jax.tree.map(lambda *leaves: np.concatenate([np.asarray(leaf) for leaf in leaves]), *found)
    estimate, low, high = (np.asarray(each, float) for each in (stacked.estimate, stacked.low, stacked.high))
    exact, sweep = np.tile(truth.ravel(), len(found)), np.repeat(np.arange(len(found)), truth.size)
    return Decisions(exact, estimate, low, high, ~stacked.overridden, stacked.traces, sweep)


def _shield(model: FiniteModel, task: TabularPolicy, test: StatTest) -> LookaheadShield:
    kernel = model.kernel.toarray().reshape(model.states, -1, model.states)
    # A slip has two other outcomes at most; room for them, so that learned models are not compiled anew.
    table = TabularModel(kernel, dict(model.labels), width=3)
    formula = f"P>={SAFETY} [ G<={HORIZON} !unsafe ]"
    return LookaheadShield(table, task, task, formula, test, confidence=CONFIDENCE)


def _summary(case: Case, every: Decisions) -> Row:
    mean, low, high = every.mean(every.estimate - every.exact)
    # The shield's numbers are single precision.
    covers = (every.low <= every.exact + 1e-6) & (every.high >= every.exact - 1e-6)
    unsafe = every.exact < SAFETY
    covered, covered_low, covered_high = every.mean(covers.astype(float))
    wrong = observed(int(every.accepted[unsafe].sum()), int(unsafe.sum()))
    return {
        "shield": case.name,
        "decisions": len(covers),
        "mean_traces": float(every.traces.mean()),
        "mean_error": mean,
        "mean_error_low": low,
        "mean_error_high": high,
        "mean_absolute_error": float(np.abs(every.estimate - every.exact).mean()),
        "nominal": CONFIDENCE,
        "covered": covered,
        "covered_low": max(covered_low, 0.0),
        "covered_high": min(covered_high, 1.0),
        "unsafe": wrong["trials"],
        "accepted_unsafe": wrong["failures"],
        "accepted_unsafe_rate": wrong["rate"],
        "accepted_unsafe_low": wrong["low"],
        "accepted_unsafe_high": wrong["high"],
    }


def _bins(case: Case, every: Decisions) -> list[Row]:
    """By exact μ, because given that the estimate is the only thing that varies."""
    which = np.clip(np.searchsorted(EDGES, every.exact, side="right") - 1, 0, len(EDGES) - 2)
    rows = []
    for index in range(len(EDGES) - 1):
        inside = every.where(which == index)
        if not len(inside.exact):
            continue
        error = inside.estimate - inside.exact
        mean, low, high = inside.mean(error)
        rows.append(
            {
                "shield": case.name,
                "from": float(EDGES[index]),
                "to": float(EDGES[index + 1]),
                "decisions": len(error),
                "mean_exact": float(inside.exact.mean()),
                "mean_estimate": float(inside.estimate.mean()),
                "mean_error": mean,
                "low": low,
                "high": high,
                "expected_error": None if case.visits else _expected_error(case.test, inside.exact),
                "spread": float(np.std(error)),
                "accepted": float(inside.accepted.mean()),
            }
        )
    return rows


def _expected_error(test: StatTest, exact: Float[np.ndarray, " n"]) -> float:
    values, counts = np.unique(exact, return_counts=True)
    return float(np.average(expected_estimate(test.looks, values) - values, weights=counts))

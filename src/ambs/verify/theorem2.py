"""Theorem 2, traces of a learned chain: false with the printed α ≤ ε/n, and true with α ≤ ε/(2n).

The number of traces is the printed one in both. Every failure probability is exact; the simulation beside it walks
the learned chain, so that it would notice if the exact number were about something else.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ambs.bounds import model_error, traces_required, tv_budget
from ambs.logic import FiniteModel
from ambs.verify import families
from ambs.verify.settings import DELTA, EPSILON, Job, Row, Settings, Tables
from ambs.verify.statistics import failure_probability, missed, observed

# As printed, and as corrected.
VERSIONS = {"printed": "paper", "corrected": "sound"}
Pair = Callable[[np.random.Generator, float], tuple[FiniteModel, FiniteModel]]


def jobs(settings: Settings) -> list[Job]:
    pairs = [partial(_rows, settings, *case) for case in cases(settings)]
    return [*pairs, _curve, _more_traces]


def cases(settings: Settings) -> list[tuple[str, int, int, Pair]]:
    """Name, horizon, how many pairs of chains, and what draws the truth and its model from an α."""
    few = settings.chains
    maps = ("small",) if settings.quick else ("small", "figure1", "long-belt")
    return [
        *(("counterexample: hazard α", n, 1, _counterexample) for n in (1, 5, 15, 30)),
        ("random sparse, 50 states, pushed", 1, few, partial(_pushed, _random)),
        *(("rare hazard .001, 20 states, pushed", n, few, partial(_pushed, _rare)) for n in (5, 30)),
        *(
            (f"conveyor {map}, {policy} policy, pushed", 30, 1, partial(_pushed, partial(_conveyor, map, policy)))
            for map in maps
            for policy in ("blind", "safe")
        ),
    ]


def _rows(settings: Settings, name: str, horizon: int, pairs: int, draw: Pair, rng: np.random.Generator) -> Tables:
    traces = traces_required(EPSILON, DELTA, model="learned")
    return {
        "theorem_2": [
            _row(settings, name, horizon, version, traces, [draw(rng, alpha) for _ in range(pairs)], alpha, rng)
            for version, budget in VERSIONS.items()
            for alpha in [tv_budget(EPSILON, horizon, budget)]
        ]
    }


def _row(
    settings: Settings,
    name: str,
    horizon: int,
    version: str,
    traces: int,
    drawn: list[tuple[FiniteModel, FiniteModel]],
    alpha: float,
    rng: np.random.Generator,
) -> Row:
    """All safe starts of all pairs exactly, and each pair's worst start simulated."""
    bound = model_error(alpha, horizon, VERSIONS[version])
    errors, chances, missing, realised = [], [], 0, 0.0
    for truth, learned in drawn:
        starts = np.flatnonzero(families.safe_states(truth))
        mu, sampled = families.exact(truth, horizon)[starts], families.exact(learned, horizon)[starts]
        chance = failure_probability(traces, sampled, mu, EPSILON)
        worst = int(chance.argmax())
        satisfied = families.satisfied_traces(rng, learned, int(starts[worst]), horizon, traces, settings.repeats)
        missing += missed(satisfied, traces, float(mu[worst]), EPSILON)
        errors.append(np.abs(mu - sampled))
        chances.append(chance)
        realised = max(realised, float(families.distance(truth, learned).max()))
    error, chance = np.concatenate(errors), np.concatenate(chances)
    return {
        "case": name,
        "horizon": horizon,
        "version": version,
        "alpha": alpha,
        "realised_tv": realised,
        "traces": traces,
        "starts": len(error),
        "greatest_error": float(error.max()),
        "error_bound": bound,
        "over_bound": int(np.sum(error > bound + 1e-12)),
        "claimed": DELTA,
        "worst_failure": float(chance.max()),
        "starts_failing": int(np.sum(chance > DELTA)),
        "holds": bool(chance.max() <= DELTA),
        **observed(missing, settings.repeats * len(drawn)),
    }


def _curve(rng: np.random.Generator) -> Tables:
    """The counterexample at every horizon, for the figure."""
    traces = traces_required(EPSILON, DELTA, model="learned")
    return {
        "theorem_2_curve": [
            {"horizon": n, **{version: _fails(n, budget, traces) for version, budget in VERSIONS.items()}}
            for n in range(1, 61)
        ]
    }


def _more_traces(rng: np.random.Generator) -> Tables:
    """The counterexample with more traces than printed: no number of them rescues n = 1."""
    printed = traces_required(EPSILON, DELTA, model="learned")
    return {
        "theorem_2_traces": [
            {"traces": printed * times, **{f"n{n}": _fails(n, "paper", printed * times) for n in (1, 5, 30)}}
            for times in (1, 10, 100, 1000)
        ]
    }


def _fails(horizon: int, budget: str, traces: int) -> float:
    sampled = (1 - tv_budget(EPSILON, horizon, budget)) ** horizon
    return float(failure_probability(traces, np.array([sampled]), np.ones(1), EPSILON)[0])


def _counterexample(rng: np.random.Generator, alpha: float) -> tuple[FiniteModel, FiniteModel]:
    return families.hazard(0.0), families.hazard(alpha)


def _pushed(
    draw: Callable[[np.random.Generator], FiniteModel], rng: np.random.Generator, alpha: float
) -> tuple[FiniteModel, FiniteModel]:
    truth = draw(rng)
    return truth, families.towards_unsafe(truth, alpha)


def _random(rng: np.random.Generator) -> FiniteModel:
    mdp = families.random_mdp(rng, 50, 2, 4)
    return mdp.under(families.random_policy(rng, mdp))


def _rare(rng: np.random.Generator) -> FiniteModel:
    mdp = families.rare_hazard_mdp(rng, 20, 2, 0.001)
    return mdp.under(families.random_policy(rng, mdp))


def _conveyor(map: str, policy: str, rng: np.random.Generator) -> FiniteModel:
    return families.conveyor(map).under(families.conveyor_policy(map, policy))

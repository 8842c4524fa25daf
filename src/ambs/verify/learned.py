"""What a model that is counted from visits gets wrong: |μ - μ̂| against both bounds, and the certified lower bound.

α is the realised distance, so nothing here is a matter of luck: one state above 1-(1-α)^n would refute it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from ambs.bounds import model_error
from ambs.logic import FiniteModel, robust_bounded_globally
from ambs.tabular.counts import VisitCounts
from ambs.verify import families
from ambs.verify.settings import Job, Row, Settings, Tables
from ambs.verify.statistics import observed


@dataclass(frozen=True)
class Family:
    """MDPs, and what draws one, and a policy for it; the policy is drawn at random if it is not chosen."""

    name: str
    states: int
    draw: Callable[[np.random.Generator], FiniteModel]
    policy: Callable[[np.random.Generator, FiniteModel], Float[np.ndarray, "states actions"]] = families.random_policy


FAMILIES = (
    Family("dense", 20, lambda rng: families.random_mdp(rng, 20, 2, 20)),
    Family("sparse, 4 successors", 20, lambda rng: families.random_mdp(rng, 20, 4, 4)),
    Family("sparse, 4 successors", 100, lambda rng: families.random_mdp(rng, 100, 4, 4)),
    Family("rare hazard .005", 20, lambda rng: families.rare_hazard_mdp(rng, 20, 2, 0.005)),
    Family("rare hazard .001", 100, lambda rng: families.rare_hazard_mdp(rng, 100, 2, 0.001)),
    Family("conveyor small", 27, lambda _: families.conveyor("small")),
    Family(
        "conveyor long-belt, blind policy",
        44,
        lambda _: families.conveyor("long-belt"),
        lambda _, mdp: families.conveyor_policy("long-belt", "blind"),
    ),
)
VISITS, HORIZONS = (20, 200), (1, 5, 30)


def jobs(settings: Settings) -> list[Job]:
    return [partial(_rows, settings, family, visits) for family in FAMILIES for visits in VISITS]


def counted(rng: np.random.Generator, mdp: FiniteModel, visits: int) -> FiniteModel:
    """The maximum-likelihood model after so many visits to every state and action."""
    truth = mdp.kernel.toarray().reshape(mdp.states, -1, mdp.states)
    counts = VisitCounts(mdp.states, truth.shape[1])
    counts.transitions += rng.multinomial(visits, truth / truth.sum(axis=2, keepdims=True))
    # Without the sink for what was never visited: there is no such pair.
    return FiniteModel.mdp(counts.kernel(1.0)[:-1, :, :-1], mdp.labels, mdp.initial)


def _rows(settings: Settings, family: Family, visits: int, rng: np.random.Generator) -> Tables:
    chains = []
    for _ in range(settings.learned):
        mdp = family.draw(rng)
        policy = family.policy(rng, mdp)
        chains.append((mdp.under(policy), counted(rng, mdp, visits).under(policy)))
    rows, points = [], []
    for horizon in HORIZONS:
        found = [_compare(truth, learned, horizon) for truth, learned in chains]
        named = {"family": family.name, "states": family.states, "visits": visits, "horizon": horizon}
        rows.append({**named, **_summary(found)})
        points += [
            {"family": family.name, "horizon": horizon, **{key: round(float(each[key].max()), 8) for key in each}}
            for each in found
        ]
    return {"learned": rows, "learned_points": points}


def _compare(truth: FiniteModel, learned: FiniteModel, horizon: int) -> dict[str, np.ndarray]:
    """In every safe state of one chain: the error, both bounds, and how far μ is above what is certified.

    Each bound gets the α that it speaks of: the printed one all states', the corrected one the safe states' only.
    """
    safe = families.safe_states(truth)
    tv = families.distance(truth, learned)
    mu, estimate = families.exact(truth, horizon), families.exact(learned, horizon)
    certified = robust_bounded_globally(learned, safe, tv, horizon)
    return {
        "error": np.abs(mu - estimate)[safe],
        "printed": np.full(safe.sum(), model_error(tv.max(), horizon, "paper")),
        "corrected": np.full(safe.sum(), model_error(tv[safe].max(), horizon)),
        "slack": (mu - certified)[safe],
    }


def _summary(found: list[dict[str, np.ndarray]]) -> Row:
    """States are counted, but the interval is of the share of chains: the states of one chain are not independent."""
    every = {key: np.concatenate([each[key] for each in found]) for key in found[0]}
    error, rounding = every["error"], 1e-10
    above = {name: int(np.sum(error > every[name] + rounding)) for name in ("printed", "corrected")}
    below = int(np.sum(every["slack"] < -rounding))
    share = observed(sum(bool(np.any(each["error"] > each["printed"] + rounding)) for each in found), len(found))
    return {
        "chains": len(found),
        "starts": len(error),
        "over_corrected": above["corrected"],
        "over_printed": above["printed"],
        "printed_rate": share["rate"],
        "printed_low": share["low"],
        "printed_high": share["high"],
        "greatest_error": float(error.max()),
        "of_corrected": float((error / every["corrected"]).max()),
        "of_printed": float((error / every["printed"]).max()),
        "below_certified": below,
        "mean_slack": float(every["slack"].mean()),
        "holds": above["corrected"] == 0 and below == 0,
    }

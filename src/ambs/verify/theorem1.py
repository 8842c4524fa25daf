"""Theorem 1, traces of the true chain: is the estimate within ε of μ as often as promised?

It is, and the exact failure probability says by how much more than promised: Hoeffding's bound is for the worst
distribution on [0, 1], and a share of traces is never that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ambs.bounds import traces_required
from ambs.logic import FiniteModel
from ambs.verify import families
from ambs.verify.settings import DELTA, EPSILON, HORIZON, Job, Settings, Tables
from ambs.verify.statistics import failure_probability, missed, observed

Chains = Callable[[np.random.Generator], FiniteModel]


def jobs(settings: Settings) -> list[Job]:
    return [partial(_rows, settings, *case) for case in cases(settings)]


def cases(settings: Settings) -> list[tuple[str, int, int, Chains]]:
    """Name, horizon, how many chains, and what draws one."""
    maps = ("small", "long-belt") if settings.quick else ("small", "figure1", "long-belt", "hard")
    return [
        ("hazard 1/2, the most variable estimate", 1, 1, lambda _: families.hazard(0.5)),
        ("random dense, 20 states", 5, settings.chains, lambda rng: _random(rng, 20)),
        ("random sparse, 20 states, 4 successors", 5, settings.chains, lambda rng: _random(rng, 4)),
        ("rare hazard .02, 20 states", HORIZON, settings.chains, _rare),
        *(
            (f"conveyor {map}, {policy} policy", HORIZON, 1, partial(_conveyor, map, policy))
            for map in maps
            for policy in ("blind", "random")
        ),
        ("counterexample: hazard ε/n", HORIZON, 1, lambda _: families.hazard(EPSILON / HORIZON)),
        ("counterexample: equal marginals, kept", 2, 1, lambda _: families.swap(0.0)),
    ]


def _rows(settings: Settings, name: str, horizon: int, chains: int, draw: Chains, rng: np.random.Generator) -> Tables:
    """One row a bound: the worst exact failure over all safe starts, and simulations from the most variable one."""
    drawn = [draw(rng) for _ in range(chains)]
    rows = []
    for sides in (2, 1):
        traces = traces_required(EPSILON, DELTA, model="exact", sides=sides)
        worst, failures, tested = 0.0, 0, []
        for chain in drawn:
            mu = families.exact(chain, horizon)
            starts = np.flatnonzero(families.safe_states(chain))
            worst = max(worst, failure_probability(traces, mu[starts], mu[starts], EPSILON, sides).max())
            start = int(starts[np.abs(mu[starts] - 0.5).argmin()])
            satisfied = families.satisfied_traces(rng, chain, start, horizon, traces, settings.repeats)
            failures += missed(satisfied, traces, float(mu[start]), EPSILON, sides)
            tested.append(mu[starts])
        every = np.concatenate(tested)
        rows.append(
            {
                "case": name,
                "horizon": horizon,
                "sides": sides,
                "traces": traces,
                "starts": len(every),
                "least_mu": float(every.min()),
                "greatest_mu": float(every.max()),
                "claimed": DELTA,
                "worst_failure": float(worst),
                "holds": bool(worst <= DELTA),
                **observed(failures, settings.repeats * chains),
            }
        )
    return {"theorem_1": rows}


def _random(rng: np.random.Generator, successors: int) -> FiniteModel:
    mdp = families.random_mdp(rng, 20, 2, successors)
    return mdp.under(families.random_policy(rng, mdp))


def _rare(rng: np.random.Generator) -> FiniteModel:
    mdp = families.rare_hazard_mdp(rng, 20, 2, 0.02)
    return mdp.under(families.random_policy(rng, mdp))


def _conveyor(map: str, policy: str, rng: np.random.Generator) -> FiniteModel:
    return families.conveyor(map).under(families.conveyor_policy(map, policy))

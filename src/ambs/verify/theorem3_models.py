"""Theorem 3 on whole models: is every row within α, in all states at once, after the visits that are asked for?

Theorem 2 needs all states, so the printed bound gets δ/S for each. Rows within α make the chain of every policy so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ambs.bounds import visits_required
from ambs.logic import FiniteModel
from ambs.tabular.counts import VisitCounts
from ambs.verify import families
from ambs.verify.experience import World, gather
from ambs.verify.settings import EPSILON, HORIZON, Job, Row, Settings, Tables
from ambs.verify.statistics import observed
from ambs.verify.theorem3 import ALPHA, DELTA

Draw = Callable[[np.random.Generator], FiniteModel]


@dataclass(frozen=True)
class Rule:
    """How many visits there are to be, whether all of them are used, and whether anybody claims that they suffice."""

    name: str
    visits: Callable[[int, int, int], int]
    all_used: bool
    claimed: bool = True


def printed(states: int, actions: int, successors: int) -> int:
    """Theorem 3 as printed, for all S states."""
    return visits_required(ALPHA, DELTA / states, states=states, actions=actions, version="paper")


def printed_local(states: int, actions: int, successors: int) -> int:
    """With the number K of successors in the place of S, as the paper suggests for grid worlds."""
    share = DELTA / states
    return visits_required(ALPHA, share, states=states, actions=actions, successors=successors, version="paper")


def corrected(states: int, actions: int, successors: int) -> int:
    """Weissman, for all S states."""
    return visits_required(ALPHA, DELTA, states=states, actions=actions, successors=successors)


RULES = (
    Rule("Theorem 3, printed", printed, all_used=True),
    Rule("Theorem 3, K for S", printed_local, all_used=True),
    Rule("Weissman, K successors", corrected, all_used=False),
    # That an experience can fail at all; else the others would show nothing.
    Rule("a tenth of Weissman", lambda *size: corrected(*size) // 10, all_used=False, claimed=False),
)


def jobs(settings: Settings) -> list[Job]:
    return [partial(_row, settings, *case, rule) for case in cases(settings) for rule in RULES]


def cases(settings: Settings) -> list[tuple[str, int, Draw]]:
    """Name, how many MDPs, and what draws one."""
    maps = ("small",) if settings.quick else ("small", "long-belt")
    few = settings.chains
    return [
        ("counterexample: hazard ε/n", 1, lambda _: families.hazard(EPSILON / HORIZON)),
        ("random sparse, 4 successors", few, lambda rng: families.random_mdp(rng, 20, 4, 4)),
        ("random dense", few, lambda rng: families.random_mdp(rng, 20, 2, 20)),
        ("rare hazard .005", few, lambda rng: families.rare_hazard_mdp(rng, 20, 2, 0.005)),
        *((f"conveyor {map}", 1, lambda _, map=map: families.conveyor(map)) for map in maps),
    ]


def greatest_distance(world: World, counts: VisitCounts) -> float:
    """The largest total variation of a counted row from the true one, over all states and actions."""
    counted = np.take_along_axis(counts.transitions, world.successors, axis=2)
    rows = counted / counts.visits[:, :, None] - world.probabilities
    return float(np.abs(rows).sum(axis=2).max() / 2)


def _row(settings: Settings, name: str, worlds: int, draw: Draw, rule: Rule, rng: np.random.Generator) -> Tables:
    """Experiences by the uniform policy, shared evenly among the MDPs."""
    distances = []
    for _ in range(worlds):
        world = World.of(draw(rng))
        states, actions, most = world.shape
        visits = rule.visits(states, actions, most)
        uniform = np.full((states, actions), 1 / actions)
        for _ in range(max(1, settings.experiences // worlds)):
            counts = gather(rng, world, uniform, visits, all_used=rule.all_used)
            distances.append(greatest_distance(world, counts))
    size: Row = {"case": name, "states": states, "actions": actions, "successors": most}
    return {"theorem_3_models": [{**size, "bound": rule.name, "visits": visits, **_found(rule, np.array(distances))}]}


def _found(rule: Rule, distances: np.ndarray) -> Row:
    share = observed(int(np.sum(distances > ALPHA)), len(distances))
    return {
        "alpha": ALPHA,
        "mean_tv": float(distances.mean()),
        "low_tv": float(np.quantile(distances, 0.025)),
        "high_tv": float(np.quantile(distances, 0.975)),
        "claimed": DELTA if rule.claimed else None,
        "holds": share["low"] <= DELTA,
        **share,
    }

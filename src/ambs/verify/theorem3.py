"""Theorem 3, visits to one state: how many make its counted row α-close, and how many do the bounds ask for?

The event is that the rows of all A actions are within α of the truth, which makes every policy's row so.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from jaxtyping import Float

from ambs.bounds import visits_required
from ambs.verify.settings import Job, Row, Settings, Tables
from ambs.verify.statistics import observed

ACTIONS, ALPHA, DELTA = 4, 0.05, 0.05
# States, successors.
SIZES = ((4, 4), (20, 20), (50, 50), (200, 200), (200, 4))
LAWS = ("uniform", "Dirichlet(1)", "one likely")


def jobs(settings: Settings) -> list[Job]:
    sizes = SIZES[:2] + SIZES[-1:] if settings.quick else SIZES
    return [partial(_rows, settings, *size, law) for size in sizes for law in LAWS]


def _rows(settings: Settings, states: int, successors: int, law: str, rng: np.random.Generator) -> Tables:
    truth = _law(rng, law, successors)
    wanted = {
        "Theorem 3, printed": visits_required(ALPHA, DELTA, states=states, actions=ACTIONS, version="paper"),
        "Weissman, K successors": visits_required(ALPHA, DELTA, states=1, actions=ACTIONS, successors=successors),
    }
    enough = _sufficient(rng, truth, settings.repeats, wanted["Weissman, K successors"])
    return {
        "theorem_3": [
            _row(settings, states, law, bound, visits, enough, truth, rng) for bound, visits in wanted.items()
        ]
    }


def _row(
    settings: Settings,
    states: int,
    law: str,
    bound: str,
    visits: int,
    enough: int,
    truth: Float[np.ndarray, "actions successors"],
    rng: np.random.Generator,
) -> Row:
    distances = _distances(rng, truth, visits, settings.repeats)
    return {
        "states": states,
        "successors": truth.shape[1],
        "law": law,
        "alpha": ALPHA,
        "bound": bound,
        "visits": visits,
        "sufficient": enough,
        "loose": visits / enough,
        "mean_tv": float(distances.mean()),
        "claimed": DELTA,
        "holds": bool(observed(int(np.sum(distances > ALPHA)), settings.repeats)["low"] <= DELTA),
        **observed(int(np.sum(distances > ALPHA)), settings.repeats),
    }


def _law(rng: np.random.Generator, law: str, successors: int) -> Float[np.ndarray, "actions successors"]:
    if law == "uniform":
        return np.full((ACTIONS, successors), 1 / successors)
    if law == "Dirichlet(1)":
        return rng.dirichlet(np.ones(successors), ACTIONS)
    rest = 0.1 / (successors - 1)
    return np.tile([0.9, *[rest] * (successors - 1)], (ACTIONS, 1))


def _distances(
    rng: np.random.Generator, truth: Float[np.ndarray, "actions successors"], visits: int, repeats: int
) -> Float[np.ndarray, " repeats"]:
    """The largest total variation over the actions, of rows counted from so many visits each."""
    counts = rng.multinomial(visits, truth, size=(repeats, len(truth)))
    return (np.abs(counts / visits - truth).sum(axis=2) / 2).max(axis=1)


def _sufficient(
    rng: np.random.Generator, truth: Float[np.ndarray, "actions successors"], repeats: int, high: int
) -> int:
    """About the fewest visits with which a share 1-δ of the experiences is within α, by bisection on simulations."""
    low = 1
    while high - low > max(1, high // 100):
        middle = (low + high) // 2
        good = np.quantile(_distances(rng, truth, middle, repeats), 1 - DELTA) <= ALPHA
        low, high = (low, middle) if good else (middle, high)
    return high

"""What rliable makes of a few small tables of scores, for the tests to compare our statistics with.

rliable brings packages that nothing else here needs, so it is no dependency, not even of the tests: install it in an
environment of its own, and run this file there (it needs nothing of ambs).

    python experiments/rliable_numbers.py tests/report/rliable.json
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
from pathlib import Path

import numpy as np
from rliable import library, metrics

# Its probability of improvement takes milliseconds a draw.
DRAWS = 5_000


def tables() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By name: the scores of two agents, runs × games."""
    rng = np.random.default_rng(0)
    return {
        "one game, five runs": (rng.normal(10, 2, (5, 1)), rng.normal(9, 2, (5, 1))),
        "four games, three runs": (rng.gamma(2, 1, (3, 4)), rng.gamma(2, 1.2, (3, 4))),
        "two games, ten runs, ties": (
            rng.integers(0, 6, (10, 2)).astype(float),
            rng.integers(1, 7, (10, 2)).astype(float),
        ),
    }


def of(mine: np.ndarray, theirs: np.ndarray) -> dict:
    points, ends = library.get_interval_estimates(
        {"mine": mine},
        lambda scores: np.array([metrics.aggregate_iqm(scores), metrics.aggregate_mean(scores)]),
        reps=DRAWS,
        random_state=np.random.RandomState(0),
    )
    chance, between = library.get_interval_estimates(
        {"pair": (mine, theirs)},
        metrics.probability_of_improvement,
        reps=DRAWS,
        random_state=np.random.RandomState(0),
    )
    found = {"scores": [mine.tolist(), theirs.tolist()]}
    for at, name in enumerate(("iqm", "mean")):
        found[name] = [float(points["mine"][at]), *map(float, ends["mine"][:, at])]
    found["improvement"] = [float(np.squeeze(chance["pair"])), *map(float, np.ravel(between["pair"]))]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    out = parser.parse_args().out
    found = {
        "rliable": importlib.metadata.version("rliable"),
        "draws": DRAWS,
        "tables": {name: of(*pair) for name, pair in tables().items()},
    }
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

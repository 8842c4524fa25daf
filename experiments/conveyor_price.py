"""What safety costs on the conveyor: the best return of 100 steps among policies that play only safe enough actions.

Exact, by dynamic programming. An action is safe enough if, with the safest policy after it, the formula holds for 30
steps with probability at least x; where no action is, the safest is played.

    python -m experiments.conveyor_price
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from ambs.envs import Conveyor
from ambs.files import write_text
from ambs.shield import ClassicalShield

PATH = Path(__file__).parent.parent / "results" / "conveyor_price.json"
STEPS, LOOK_AHEAD = 100, 30


def price(bar: float) -> dict[str, float]:
    """The best return, and the violations that are to be expected with it."""
    env = Conveyor()
    states, acid = env.layout.states, np.array([tile == "A" for tile in env.layout.tiles])
    kernel = env.mdp().kernel.toarray().reshape(states, 5, states)
    safety = np.asarray(ClassicalShield(env.mdp(), "!acid", horizon=LOOK_AHEAD).safety)
    allowed = (safety >= bar) | (safety >= safety.max(axis=1, keepdims=True) - 1e-9)
    value, violations = np.zeros(states), np.zeros(states)
    for _ in range(STEPS):
        worth = np.where(allowed, env.rewards() + kernel @ value, -np.inf)
        best = worth.argmax(axis=1)
        following = kernel[np.arange(states), best]
        value, violations = worth.max(axis=1), following @ (acid + violations)
    start = env.layout.start
    return {"at_least": bar, "return": round(value[start], 3), "violations": round(violations[start], 3)}


def main() -> None:
    rows = [price(bar) for bar in (0.0, 0.9, 0.94, 0.96, 0.99)]
    write_text(PATH, json.dumps(rows, indent=1) + "\n")
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()

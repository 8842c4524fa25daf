"""What labels cost: steps a second of a labelled Atari game and of the same loop without labels, in one run.

The loop without labels is the same environment that looks at nothing and finds nothing, so that all else is equal:
emulator, stickiness, pooling, resizing. Repeats of the two alternate, and the ratio of each pair is taken; its median
is reported.

    python -m benchmarks.labelled_speed [--steps 400] [--repeats 9] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from ambs.envs.atari import GAMES
from ambs.envs.atari.game import AtariGame
from ambs.files import write_text

FIVE = tuple(GAMES)[:5]


def unlabelled(game: str) -> AtariGame:
    """The game, with no memory read and nothing compared."""
    env = AtariGame(game)
    nothing = (False,) * len(env.game.labeller.atoms)
    env._look = lambda was: ()
    env._labels = lambda was, now: nothing
    return env


def seconds(env: AtariGame, steps: int, seed: int) -> float:
    """CPU time of so many steps of the same random play; on a shared machine the wall clock tells about the others."""
    actions = np.random.default_rng(seed).integers(18, size=steps).tolist()
    env.reset(seed=seed)
    start = time.process_time()
    for action in actions:
        *_, terminated, truncated, _ = env.step(action)
        if terminated or truncated:
            env.reset()
    return time.process_time() - start


def measure(game: str, steps: int, repeats: int) -> dict[str, float | str]:
    labelled, plain = AtariGame(game), unlabelled(game)
    pairs = [(seconds(labelled, steps, seed), seconds(plain, steps, seed)) for seed in range(repeats)]
    return {
        "game": game,
        "labelled_steps_per_second": steps / statistics.median(with_labels for with_labels, _ in pairs),
        "plain_steps_per_second": steps / statistics.median(without for _, without in pairs),
        "ratio": statistics.median(without / with_labels for with_labels, without in pairs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    rows = []
    for game in FIVE:
        row = measure(game, options.steps, options.repeats)
        rows.append({**row, "steps": options.steps, "repeats": options.repeats})
        print(
            f"{game:15} {row['labelled_steps_per_second']:6.0f} steps/s labelled, "
            f"{row['plain_steps_per_second']:6.0f} without labels, ratio {row['ratio']:.3f}"
        )
    if options.json:
        write_text(options.json, json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""The learning curves of one agent in `experiments.training_runs`, and the table of what was reached.

Returns are of training episodes, actions sampled; the line is the mean over seeds, the band from the lowest to the
highest. The dashed line is a uniformly random policy over 200 episodes (seed 0), the dotted one the best stationary
policy, where it is known exactly.

    python -m experiments.learning_figure [dreamer | rainbow | iqn | ...]
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import matplotlib
import numpy as np

import ambs
from ambs.envs import Conveyor
from ambs.files import replacing, write_text
from ambs.runs.curves import Curves
from ambs.runs.tabular.exact import Truth
from experiments.statistics import interval

matplotlib.use("Agg")
from matplotlib import pyplot as plt

RESULTS = Path(__file__).parent.parent / "results"
RANDOM = RESULTS / "random_returns.json"
EPISODES = 200


def collected(folder: Path) -> dict[str, list[dict]]:
    """The runs, by what was trained, one a seed."""
    runs: dict[str, list[dict]] = {}
    for path in sorted(folder.glob("*-s*.json")):
        name = re.sub(r"-s\d+$", "", path.stem)
        runs.setdefault(name, []).append(json.loads(path.read_text(encoding="utf-8")))
    return runs


def random_return(name: str) -> list[float]:
    """Returns of a uniformly random policy, kept so that they are made once."""
    known = json.loads(RANDOM.read_text()) if RANDOM.exists() else {}
    if name not in known:
        env = ambs.make(name)
        env.action_space.seed(0)
        returns = []
        for episode in range(EPISODES):
            env.reset(seed=episode)
            total, over = 0.0, False
            while not over:
                _, reward, terminated, truncated, _ = env.step(env.action_space.sample())
                total, over = total + float(reward), terminated or truncated
            returns.append(total)
        known[name] = returns
        write_text(RANDOM, json.dumps(known) + "\n")
    return known[name]


def best_return(name: str) -> float | None:
    """What the best stationary policy makes, exactly; known of the conveyor worlds only."""
    if not name.startswith("conveyor"):
        return None
    world = ambs.make(name).unwrapped
    assert isinstance(world, Conveyor)
    truth = Truth.of(world)
    return truth.episode(np.eye(5)[truth.best()])[0]


def last_tenth(run: dict) -> float:
    """The mean return of the episodes that ended in the last tenth of the run."""
    return Curves.of_json(run["curve"]).last_tenth() or 0.0


def draw(runs: dict[str, list[dict]], path: Path) -> None:
    columns = min(3, len(runs))
    rows = -(-len(runs) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.1 * rows), squeeze=False)
    for axis, (name, seeds) in zip(axes.flat, runs.items(), strict=False):
        steps = np.array(seeds[0]["curve"]["step"])
        returns = np.array([run["curve"]["return"] for run in seeds], float)
        # Parts of a run in which no episode ended are passed over.
        there = ~np.isnan(returns).all(axis=0)
        steps, returns = steps[there], returns[:, there]
        axis.plot(steps, np.nanmean(returns, 0), color="#1f77b4")
        axis.fill_between(steps, np.nanmin(returns, 0), np.nanmax(returns, 0), color="#1f77b4", alpha=0.2)
        axis.axhline(np.mean(random_return(seeds[0]["summary"]["env"])), color="grey", linestyle="--", linewidth=1)
        if (best := best_return(seeds[0]["summary"]["env"])) is not None:
            axis.axhline(best, color="#2a7f62", linestyle=":", linewidth=1)
        axis.set_title(f"{name} ({len(seeds)} seed{'s' if len(seeds) > 1 else ''})", fontsize=10)
        axis.set_xlabel("environment steps")
        axis.set_ylabel("return")
    for axis in list(axes.flat)[len(runs) :]:
        axis.axis("off")
    figure.tight_layout()
    with replacing(path) as file:
        figure.savefig(file, dpi=110, format="png")
    plt.close(figure)


def table(runs: dict[str, list[dict]]) -> str:
    lines = [
        "| trained | seeds | steps | random | last tenth | best (exact) | CPU minutes |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, seeds in runs.items():
        summary = seeds[0]["summary"]
        reached = [last_tenth(run) for run in seeds]
        minutes = np.mean([run["summary"]["cpu_seconds"] for run in seeds]) / 60
        shown = interval(reached, 2) if len(reached) > 1 else f"{reached[0]:.2f}"
        random = np.mean(random_return(summary["env"]))
        best = "" if (known := best_return(summary["env"])) is None else f"{known:.2f}"
        cells = (name, len(seeds), f"{summary['steps']:,}", f"{random:.2f}", shown, best, f"{minutes:.0f}")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("agent", nargs="?", default="dreamer")
    folder = RESULTS / parser.parse_args().agent
    runs = collected(folder)
    if not runs:
        raise SystemExit(f"there are no runs in results/{folder.name} yet; see experiments/training_runs.py.")
    draw(runs, folder / "curves.png")
    write_text(folder / "table.md", table(runs))
    print(table(runs))


if __name__ == "__main__":
    main()

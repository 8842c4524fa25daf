"""Tabular AMBS on the conveyor beside no shield, a classical and a prescience shield: violations and return.

Every run is a small JSON file under results/tabular; what is there already is not run again, so the command can be
stopped and said again. Seeds 0 to 9 are the reported ones; nothing was tuned on them (tuning used 100 and above).

    python -m experiments.tabular_conveyor [--agents none A ...] [--seeds 10] [--steps 6000] [--jobs 2]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import gymnasium
import numpy as np
from rich.progress import track
from scipy import stats

import ambs
from ambs.files import write_text
from ambs.shield import ClassicalShield, PrescienceShield
from ambs.tabular import TabularAgent, TabularConfig, interact, no_guard
from ambs.types import Decision

FORMULA = "P>=0.9 [ G<=30 !acid ]"
ENV = "ambs:Conveyor-v0"
EXPLORE = 4000
AGENTS = ("none", "A", "B", "C", "paper", "classical", "prescience")
OUT = Path(__file__).parent.parent / "results" / "tabular"


def run(agent: str, seed: int, steps: int) -> dict:
    env = gymnasium.make(ENV, observation="state")
    guard = None
    # Without AMBS's shield exploring does not end: optimism and some random actions throughout.
    config = TabularConfig(FORMULA, explore_steps=10**9, exploration=0.02)
    if agent in ("A", "B", "C", "paper"):
        test = ambs.Fixed.paper(batch=32) if agent == "paper" else ambs.Ladder.level(agent)
        config = TabularConfig(FORMULA, test, explore_steps=EXPLORE)
    elif agent == "none":
        guard = no_guard
    elif agent == "classical":
        exact = ClassicalShield(env.unwrapped.mdp(), FORMULA)
        allowed, safety = np.asarray(exact.allowed), np.asarray(exact.safety)

        def guard(state: int, proposed: int) -> Decision:
            action = proposed if allowed[state, proposed] else int(safety[state].argmax())
            value = safety[state, proposed]
            return Decision(action, action != proposed, value, value, value, 0)
    else:
        shield = PrescienceShield(env.unwrapped, range(5), depth=5)

        def guard(state: int, proposed: int) -> Decision:
            return shield(state, proposed)

    taken = list(interact(env, TabularAgent(env, config, seed=seed, guard=guard), steps, seed=seed))
    by_episode = [sum(s.reward for s in taken[start : start + 100]) for start in range(0, steps, 100)]
    return {
        "agent": agent,
        "env": ENV,
        "formula": FORMULA,
        "seed": seed,
        "steps": steps,
        "explore_steps": EXPLORE if agent in ("A", "B", "C", "paper") else None,
        "returns": by_episode,
        "violations": [sum(s.cost > 0 for s in taken[start : start + 100]) for start in range(0, steps, 100)],
        "overrides": [sum(bool(s.decision.overridden) for s in taken[i : i + 100]) for i in range(0, steps, 100)],
        "traces": float(np.mean([float(s.decision.traces) for s in taken])),
    }


def job(todo: tuple[str, int, int]) -> None:
    agent, seed, steps = todo
    write_text(OUT / f"{agent}-{seed}-{steps}.json", json.dumps(run(agent, seed, steps)) + "\n")


def interval(values: list[float]) -> str:
    """Mean and 95 % interval of the mean over seeds (Student)."""
    mean = float(np.mean(values))
    half = float(stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)) if len(values) > 1 else float("nan")
    return f"{mean:.2f} ± {half:.2f}"


def table(steps: int) -> str:
    head = "| agent | seeds | violations in all | in the last 1,000 steps | final return | overridden | traces |\n"
    lines = [head + "|---|---|---|---|---|---|---|"]
    for agent in AGENTS:
        runs = [json.loads(path.read_text()) for path in sorted(OUT.glob(f"{agent}-*-{steps}.json"))]
        if not runs:
            continue
        columns = (
            [float(sum(r["violations"])) for r in runs],
            [float(sum(r["violations"][-10:])) for r in runs],
            [float(np.mean(r["returns"][-10:])) for r in runs],
            [100 * sum(r["overrides"]) / steps for r in runs],
            [r["traces"] for r in runs],
        )
        lines.append(f"| {agent} | {len(runs)} | " + " | ".join(interval(column) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", nargs="+", default=list(AGENTS), choices=AGENTS)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    wanted = [(agent, seed, options.steps) for agent in options.agents for seed in range(options.seeds)]
    todo = [one for one in wanted if not (OUT / f"{one[0]}-{one[1]}-{one[2]}.json").exists()]
    # Fresh interpreters: JAX does not survive a fork.
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        for _ in track(pool.map(job, todo), total=len(todo), description="training"):
            pass
    text = table(options.steps)
    write_text(OUT / "table.md", text)
    print(text)


if __name__ == "__main__":
    main()

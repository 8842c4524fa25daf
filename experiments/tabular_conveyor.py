"""Tabular AMBS on the conveyor beside no shield, a classical and a prescience shield: violations and return.

Every run is a small JSON file under results/tabular; what is there already is not run again, so the command can be
stopped and said again. Seeds 0 to 9 are the reported ones; nothing was tuned on them (tuning used 100 and above).

    python -m experiments.tabular_conveyor [--maps conveyor ...] [--agents none A ...] [--seeds 10] [--jobs 2]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from rich.progress import track

import ambs
from ambs.envs.conveyor import Snapshot
from ambs.files import write_text
from ambs.runs.tabular.exact import Truth
from ambs.runs.tabular.record import BLOCK, record
from ambs.runs.tabular.training import TESTS
from ambs.shield import ClassicalShield, PrescienceShield
from ambs.tabular import TabularAgent, TabularConfig, interact, no_guard, reward_values
from ambs.tabular.agent import Guard
from ambs.types import Decision
from experiments.statistics import interval, ratio
from experiments.tabular_figure import draw

FORMULA = "P>=0.9 [ G<=30 !acid ]"
STEPS, EXPLORE = 10_000, 2_000
# Deeper, its search becomes the whole cost of the comparison.
PRESCIENCE_DEPTH = 5
MAPS = ("conveyor-figure1", "conveyor")
AGENTS = {
    "none": "no shield",
    "penalty": "no shield, a fixed penalty of 1",
    "A": "AMBS, ladder A",
    "B": "AMBS, ladder B",
    "C": "AMBS, ladder C",
    "paper": "AMBS, the paper's 5 of 512",
    "blind": "AMBS, ladder A, task policy blind to refusals (the paper's)",
    "classical": "classical, P>=0.9 (exact dynamics)",
    "classical-99": "classical, P>=0.99 (exact dynamics)",
    "prescience": f"prescience, depth {PRESCIENCE_DEPTH} (simulator)",
}
OUT = Path(__file__).parent.parent / "results" / "tabular"


def classical(env, formula: str) -> Guard:
    """Known dynamics; among the safest actions the best for reward."""
    truth = Truth.of(env.unwrapped)
    exact = ClassicalShield(env.unwrapped.mdp(), formula, prefer=reward_values(truth.kernel, truth.reward, 0.99))
    allowed, safety, backup = (np.asarray(part) for part in (exact.allowed, exact.safety, exact.backup))

    def guard(state: int, proposed: int) -> Decision:
        action = proposed if allowed[state, proposed] else int(backup[state])
        value = safety[state, proposed]
        return Decision(action, action != proposed, value, value, value, 0)

    return guard


def prescience(env, name: str, seed: int) -> Guard:
    """A second copy of the world, put where the first one is, with dice of its own: it cannot see what will fall."""
    copy = ambs.make(name, observation="state").unwrapped
    copy.reset(seed=seed)
    dice = np.random.default_rng(seed + 10_000)
    shield = PrescienceShield(copy, range(5), depth=PRESCIENCE_DEPTH)

    def guard(state: int, proposed: int) -> Decision:
        thrown = type(copy.np_random.bit_generator)(int(dice.integers(2**63))).state
        copy.set_state(Snapshot(state, 0, thrown))
        return shield(state, proposed)

    return guard


def run(map: str, agent: str, seed: int, steps: int) -> dict:
    env = ambs.make(map, observation="state")
    test = TESTS["A" if agent == "blind" else agent]() if agent in (*TESTS, "blind") else None
    config = TabularConfig(FORMULA, test, explore_steps=EXPLORE, penalty="none" if agent == "blind" else "refusals")
    guards = {
        "none": lambda: no_guard,
        "penalty": lambda: no_guard,
        "classical": lambda: classical(env, FORMULA),
        "classical-99": lambda: classical(env, "P>=0.99 [ G<=30 !acid ]"),
        "prescience": lambda: prescience(env, map, seed),
    }
    guard = guards[agent]() if agent in guards else None
    learner = TabularAgent(env, config, seed=seed, guard=guard)
    if agent == "penalty":
        learner.penalty = 1.0
    done = record(interact(env, learner, steps, seed=seed))
    return {"map": map, "agent": agent, "seed": seed, "formula": FORMULA, "explore_steps": EXPLORE, **done.as_json()}


def path(map: str, agent: str, seed: int, steps: int) -> Path:
    return OUT / map / f"{agent}-{seed}-{steps}.json"


def job(todo: tuple[str, str, int, int]) -> None:
    write_text(path(*todo), json.dumps(run(*todo)) + "\n")


def results(map: str, steps: int) -> dict[str, list[dict]]:
    """The runs there are, by agent and in the order of their seeds."""
    runs: dict[str, list[dict]] = {agent: [] for agent in AGENTS}
    for one in sorted((OUT / map).glob(f"*-{steps}.json")):
        run = json.loads(one.read_text())
        runs[run["agent"]].append(run)
    return {agent: sorted(some, key=lambda run: run["seed"]) for agent, some in runs.items() if some}


def table(map: str, steps: int) -> str:
    truth = Truth.of(ambs.make(map, observation="state").unwrapped)
    (safe, _), (blind, baths) = (truth.episode(np.eye(5)[policy]) for policy in (truth.safest(), truth.best()))
    head = "| agent | seeds | violations | median | fewer | in the last 1,000 | final return | overridden % | traces |"
    lines = [f"### {map}, {steps:,} steps, 95 % intervals over seeds", "", head, "|---|" + "---|" * 8]
    runs = results(map, steps)
    late = 1000 // BLOCK
    unshielded = [float(sum(r["violations"])) for r in runs["none"]]
    for agent, some in runs.items():
        violations = [float(sum(r["violations"])) for r in some]
        traces = np.mean([sum(r["traces"]) / steps for r in some])
        columns = (
            interval(violations),
            f"{np.median(violations):.0f}",
            "" if agent == "none" else ratio(unshielded, violations),
            interval([float(sum(r["violations"][-late:])) for r in some]),
            interval([float(np.mean(r["returns"][-late:])) for r in some], 2),
            interval([100 * sum(r["overrides"]) / steps for r in some]),
            f"{traces:.0f}" if agent in (*TESTS, "blind") else "",
        )
        lines.append(f"| {AGENTS[agent]} | {len(some)} | " + " | ".join(columns) + " |")
    difference = [
        float(np.mean(a["returns"][-late:]) - np.mean(b["returns"][-late:]))
        for a, b in zip(runs["A"], runs["none"], strict=False)
    ]
    lines += [
        "",
        f"Final return of ladder A minus no shield, seed by seed: {interval(difference, 2)}.",
        f"Violations without a shield, seed by seed: {', '.join(f'{v:.0f}' for v in unshielded)}.",
        "",
        f"Exact, in 100 steps: the best stationary policy blind to acid delivers {blind:.2f} with {baths:.2f} baths;",
        f"the best one that stays out of acid wherever that can be helped delivers {safe:.2f}.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--maps", nargs="+", default=list(MAPS), choices=MAPS)
    parser.add_argument("--agents", nargs="+", default=list(AGENTS), choices=list(AGENTS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    todo = [
        (map, agent, seed, options.steps)
        for map in options.maps for seed in range(options.seeds) for agent in options.agents
        if not path(map, agent, seed, options.steps).exists()
    ]  # fmt: skip
    for map in options.maps:
        (OUT / map).mkdir(parents=True, exist_ok=True)
    # Fresh interpreters: JAX does not survive a fork.
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        for _ in track(pool.map(job, todo), total=len(todo), description="training"):
            pass
    text = "\n".join(table(map, options.steps) for map in options.maps)
    write_text(OUT / "table.md", text)
    for map in options.maps:
        draw(results(map, options.steps), AGENTS, map, OUT / f"{map}.png")
    print(text)


if __name__ == "__main__":
    main()

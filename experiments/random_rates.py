"""How often a uniformly random policy breaks the formula, in every environment of the catalogue.

Violating steps per 1,000, with a 95 % interval; how often each atom becomes true; how long episodes are. Every
environment is one JSON file under results/random_rates; what is there already is not run again, so the command can be
stopped and said again.

The interval is quasi-Poisson: violations come in bouts, so their number varies more than a Poisson variable's. The
steps are cut into 100 blocks; φ is the variance of the blocks' counts over their mean, but at least 1; and the exact
Poisson interval (Garwood) is taken for n/φ events and scaled back by φ. Without bouts that is the exact interval, and
it has an upper end also where nothing happened. What lasts longer than a block it does not see.

    python -m experiments.random_rates [ENV ...] [--steps 20000] [--seed 0] [--jobs 2]
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from rich.progress import track
from scipy import stats

import ambs
from ambs.envs import CATALOGUE
from ambs.files import write_text

BLOCKS = 100
OUT = Path(__file__).parent.parent / "results" / "random_rates"


def run(name: str, steps: int, seed: int) -> dict:
    """One environment under a uniformly random policy; states that episodes begin in are nobody's step."""
    env = ambs.make(name)
    # Two generators: with one seed for both, what the environment draws would follow the actions.
    env_seed, action_seed = (int(state) for state in np.random.SeedSequence(seed).generate_state(2) >> 1)
    env.action_space.seed(action_seed)
    _, info = env.reset(seed=env_seed)
    violations, rises, lengths, length = np.zeros(steps, bool), dict.fromkeys(info["labels"], 0), [], 0
    for step in range(steps):
        before = info["labels"]
        _, _, terminated, truncated, info = env.step(env.action_space.sample())
        violations[step], length = info["cost"] > 0, length + 1
        for atom, true in info["labels"].items():
            rises[atom] += true and not before[atom]
        if terminated or truncated:
            lengths.append(length)
            length = 0
            _, info = env.reset()
    blocks = [int(block.sum()) for block in np.array_split(violations, BLOCKS)]
    return {
        "env": name,
        "formula": CATALOGUE[name].formula,
        "steps": steps,
        "seed": seed,
        "violations": int(violations.sum()),
        "violations_by_block": blocks,
        "became_true": rises,
        "episodes": len(lengths),
        "mean_length": float(np.mean(lengths)) if lengths else None,
    }


def interval(blocks: list[int], level: float = 0.95) -> tuple[float, float, float]:
    """The quasi-Poisson interval for the expected number of violations, and the dispersion φ."""
    counts, tail = np.asarray(blocks), (1 - level) / 2
    total = counts.sum()
    dispersion = max(1.0, counts.var(ddof=1) / counts.mean()) if total else 1.0
    events = total / dispersion
    low = stats.chi2.ppf(tail, 2 * events) / 2 if total else 0.0
    high = stats.chi2.ppf(1 - tail, 2 * events + 2) / 2
    return float(low * dispersion), float(high * dispersion), float(dispersion)


def row(result: dict) -> dict:
    low, high, dispersion = interval(result["violations_by_block"])
    per_1000 = 1000 / result["steps"]
    return {
        "env": result["env"],
        "formula": result["formula"],
        "steps": result["steps"],
        "violations": result["violations"],
        "per_1000": result["violations"] * per_1000,
        "low": low * per_1000,
        "high": high * per_1000,
        "dispersion": dispersion,
        "atoms_per_1000": {atom: count * per_1000 for atom, count in result["became_true"].items()},
        "episodes": result["episodes"],
        "mean_length": result["mean_length"],
    }


def table(rows: list[dict], steps: int, seed: int) -> str:
    lines = [
        f"Uniformly random policy, {steps:,} steps, seed {seed}; per 1,000 steps, with a 95 % quasi-Poisson interval.",
        "",
        "| environment | violating steps | interval | became true | episodes over | their mean length |",
        "|---|---|---|---|---|---|",
    ]
    for one in rows:
        atoms = ", ".join(f"{atom} {rate:.2f}" for atom, rate in one["atoms_per_1000"].items())
        length = "–" if one["mean_length"] is None else f"{one['mean_length']:,.0f}"
        lines.append(
            f"| {one['env']} | {one['per_1000']:.2f} | {one['low']:.2f} to {one['high']:.2f} | {atoms} "
            f"| {one['episodes']} | {length} |"
        )
    return "\n".join(lines) + "\n"


def file_of(name: str, steps: int, seed: int) -> Path:
    return OUT / f"{name}-{steps}-{seed}.json"


def job(todo: tuple[str, int, int]) -> None:
    write_text(file_of(*todo), json.dumps(run(*todo)) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("envs", nargs="*", metavar="ENV", help="all of the catalogue if not given")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.steps < BLOCKS:
        parser.error(f"--steps has to be at least {BLOCKS}")
    if unknown := [name for name in options.envs if name not in CATALOGUE]:
        parser.error(f"there is no environment {unknown[0]}; `ambs envs` lists them all")
    OUT.mkdir(parents=True, exist_ok=True)
    wanted = [(name, options.steps, options.seed) for name in options.envs or CATALOGUE]
    todo = [one for one in wanted if not file_of(*one).exists()]
    # Fresh interpreters: JAX does not survive a fork.
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        for _ in track(pool.map(job, todo), total=len(todo), description="playing at random"):
            pass
    # All that is there, in the catalogue's order: a run of a few environments keeps the others in the table.
    files = [file_of(name, options.steps, options.seed) for name in CATALOGUE]
    rows = [row(json.loads(file.read_text())) for file in files if file.exists()]
    text = table(rows, options.steps, options.seed)
    write_text(OUT / "table.md", text)
    write_text(OUT / "table.json", json.dumps(rows, indent=2) + "\n")
    print(text)


if __name__ == "__main__":
    main()

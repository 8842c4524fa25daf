"""Eight environments as a vector beside one alone, in one process and in several, in one run.

Environment steps a second under random actions. Read the ratios; machines differ, and so does what else they do (the
load average is recorded: where the cores are taken, more processes gain little). The rounds go through all variants in
turn, so that a busy minute hits each of them; the median round is reported. The overhead is the time of a step of the
vector in processes, less what its busiest process spends on its environments: `workers="auto"` weighs it against the
time saved (`PROCESS_SECONDS` in ambs/envs/vector/make.py).

    python -m benchmarks.vector_speed [--envs conveyor seaquest] [--n 8] [--rounds 5] [--seconds 1] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from pathlib import Path

import numpy as np

import ambs
from ambs.envs import CATALOGUE
from ambs.envs.vector import VectorEnv, make_vec
from ambs.files import write_text

ENVS = ("conveyor", "minatar-seaquest", "seaquest")


class Alone:
    """One environment without a vector, stepped and reset by hand: what the others are compared with."""

    num_envs = 1

    def __init__(self, name: str) -> None:
        self.env = ambs.make(name)
        self.env.reset(seed=0)
        self.rng, self.actions = np.random.default_rng(0), self.env.action_space.n

    def step(self) -> None:
        _, _, terminated, truncated, _ = self.env.step(self.rng.integers(self.actions))
        if terminated or truncated:
            self.env.reset()

    def close(self) -> None:
        self.env.close()


class Vector:
    def __init__(self, vector: VectorEnv) -> None:
        self.vector, self.num_envs = vector, vector.num_envs
        self.rng, self.actions = np.random.default_rng(0), vector.single_action_space.n
        vector.reset()

    def step(self) -> None:
        self.vector.step(self.rng.integers(self.actions, size=self.num_envs))

    def close(self) -> None:
        self.vector.close()


def rate(variant: Alone | Vector, seconds: float) -> float:
    """Environment steps a second."""
    start, steps = time.perf_counter(), 0
    while (passed := time.perf_counter() - start) < seconds:
        variant.step()
        steps += variant.num_envs
    return steps / passed


def measure(name: str, n: int, rounds: int, seconds: float) -> dict:
    workers = min(n, len(os.sched_getaffinity(0)))
    variants: dict[str, Alone | Vector] = {
        "alone": Alone(name),
        "inline": Vector(make_vec(name, n, workers="inline")),
        "processes": Vector(make_vec(name, n, workers=workers)),
    }
    with make_vec(name, n) as chosen:
        auto = type(chosen.backend).__name__.lower()
    try:
        rates = [{key: rate(variant, seconds) for key, variant in variants.items()} for _ in range(rounds)]
    finally:
        for variant in variants.values():
            variant.close()
    median = {key: statistics.median(one[key] for one in rates) for key in variants}
    overhead = statistics.median(n / one["processes"] - -(-n // workers) / one["alone"] for one in rates)
    return {
        "env": name,
        "n": n,
        "workers": workers,
        "auto": auto,
        "load_average": os.getloadavg()[0],
        "steps_per_second": median,
        "inline_over_alone": statistics.median(one["inline"] / one["alone"] for one in rates),
        "processes_over_alone": statistics.median(one["processes"] / one["alone"] for one in rates),
        "overhead_microseconds": 1e6 * overhead,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--envs", nargs="+", default=[name for name in ENVS if name in CATALOGUE])
    parser.add_argument("--n", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    rows = []
    for name in options.envs:
        one = measure(name, options.n, options.rounds, options.seconds)
        rows.append(one)
        speeds = "  ".join(f"{key} {value:7,.0f}/s" for key, value in one["steps_per_second"].items())
        print(
            f"{name:18} {speeds}  ×{one['inline_over_alone']:.2f} inline  ×{one['processes_over_alone']:.2f} in "
            f"{one['workers']} processes (auto: {one['auto']}), overhead {one['overhead_microseconds']:.0f} µs"
        )
    if options.json:
        write_text(options.json, json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()

"""What a run takes of memory: with a replay of a million images, and over a hundred thousand steps.

    replay   the ring alone, of 10^6 steps with 64×64×3 images, filled through its own interface and sampled from
    image    a whole run with such a replay, in a world of nothing but images: random steps until it is full,
             then as many again as are asked for, with learning, that take the place of the oldest
    growth   a whole run of 10^5 steps in the conveyor world: its own memory at each moment, and a line through that

A process's own memory (anonymous) is told from the pages of files that it has mapped, which the system takes back when
others need them. Each part is a process of its own, so that none begins with what another has left.

The line of growth goes through the means of equal stretches of steps, after the first fifth, in which programs are
compiled. It is Theil's and Sen's, the median of the slopes between all pairs, with the interval at 95 % that belongs to
it: what the compiler has left is given back to the system all at once and at any moment, and a line of least squares is
then about that moment and nothing else.

    python -m benchmarks.memory [--fill 1000000] [--image-steps 3000] [--growth-steps 100000] [--json FILE]
    python -m benchmarks.memory --read FILE     what was measured before, summed up again
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from scipy import stats

from ambs.files import write_text
from ambs.replay import Ring
from benchmarks.replay_speed import BATCH, LAYOUT, LENGTH

CAPACITY, ENVS = 1_000_000, 8
MB = 2**20
# The means that the line of growth goes through.
STRETCHES = 20


class Flicker(gymnasium.Env[np.ndarray, int]):
    """Random images, made once; episodes of 100 steps."""

    observation_space = spaces.Box(0, 255, (64, 64, 3), np.uint8)
    action_space = spaces.Discrete(6)

    def __init__(self) -> None:
        self._images = np.random.default_rng(0).integers(256, size=(16, 64, 64, 3), dtype=np.uint8)
        self._time = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._time = 0
        return self._images[0], {"cost": 0.0}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self._time += 1
        return self._images[self._time % 16], float(action == 0), False, self._time == 100, {"cost": 0.0}


# A part's process has this module twice: as its main one, and under its own name.
if "Flicker-v0" not in gymnasium.registry:
    gymnasium.register("Flicker-v0", entry_point=Flicker)


def memory() -> dict[str, float]:
    """Of this process, in MB: now its own and of mapped files, and the most of both together so far."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: float(line.split()[1]) / 1024 for line in lines if line.endswith("kB")}
    return {"own_mb": sizes["RssAnon"], "files_mb": sizes["RssFile"], "peak_mb": sizes["VmHWM"]}


def on_disk(folder: Path) -> float:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / MB


def replay(folder: Path, fill: int) -> dict[str, Any]:
    rng, before = np.random.default_rng(0), memory()
    ring = Ring.open(folder, LAYOUT, CAPACITY, ENVS)
    images = rng.integers(256, size=(64, ENVS, 64, 64, 3), dtype=np.uint8)
    rest = {key: np.zeros((ENVS, *shape), dtype) for key, (shape, dtype) in LAYOUT.items()}
    for step in range(min(fill, CAPACITY) // ENVS):
        ring.add({**rest, "obs": images[step % 64]})
    for _ in range(100):
        ring.sample(rng, BATCH, LENGTH)
    row = sum(int(np.prod(shape)) * np.dtype(dtype).itemsize for shape, dtype in LAYOUT.values())
    return {
        "steps": len(ring),
        "before": before,
        "after": memory(),
        "disk_mb": on_disk(folder),
        "disk_mb_when_full": CAPACITY * row / MB,
    }


def image(folder: Path, steps: int) -> dict[str, Any]:
    from ambs.runs.dreamer import RunConfig, cpu_learner, train

    most = {"own_mb": 0.0, "files_mb": 0.0}

    def look(_: Any) -> None:
        now = memory()
        most.update({name: max(value, now[name]) for name, value in most.items()})

    config = RunConfig(
        env="benchmarks.memory:Flicker-v0", steps=CAPACITY + steps, prefill=CAPACITY, envs=ENVS, workers="inline",
        capacity=CAPACITY, checkpoint_every=CAPACITY, log_every=CAPACITY // 10, tensorboard=False,
        learner=cpu_learner("nano"),
    )  # fmt: skip
    summary = train(config, folder, look)
    return {
        "steps": summary["steps"],
        "updates": summary["updates"],
        "most": most,
        "peak_mb": memory()["peak_mb"],
        "disk_mb": on_disk(folder / "replay"),
    }


def growth(folder: Path, steps: int) -> dict[str, Any]:
    from ambs.runs.dreamer import RunConfig, cpu_learner, train

    seen: list[tuple[int, float]] = []

    def look(status: Any) -> None:
        if not seen or status.steps >= seen[-1][0] + steps // 1000:
            seen.append((status.steps, memory()["own_mb"]))

    config = RunConfig(
        env="conveyor", steps=steps, envs=ENVS, workers="inline", train_ratio=4.0, learner=cpu_learner("nano")
    )
    summary = train(config, folder, look)
    return {
        "steps": summary["steps"],
        "updates": summary["updates"],
        "own_mb": [[step, round(size, 2)] for step, size in seen[:: max(1, len(seen) // 100)]],
        "peak_mb": memory()["peak_mb"],
    }


def line(seen: list[list[float]]) -> dict[str, float]:
    """MB in 100,000 steps with its interval, and what was least and most; after the first fifth."""
    at, own = np.array(seen).T
    late = at > at[-1] / 5
    means = [[part.mean() for part in np.array_split(values[late], STRETCHES)] for values in (own, at / 100_000)]
    slope, _, low, high = stats.theilslopes(*means, alpha=0.95)
    return {
        "mb_per_100000_steps": float(slope),
        "low": float(low),
        "high": float(high),
        "least_mb": float(own[late].min()),
        "most_mb": float(own[late].max()),
    }


def alone(function: Callable[[Path, int], dict[str, Any]], steps: int) -> dict[str, Any]:
    """In a process and a folder of its own, both gone afterwards."""
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool,
    ):
        return pool.submit(function, Path(folder) / "run", steps).result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fill", type=int, default=CAPACITY, help="steps to put into the replay")
    parser.add_argument("--image-steps", type=int, default=3_000)
    parser.add_argument("--growth-steps", type=int, default=100_000)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--read", type=Path, help="measure nothing: sum up what is in this file")
    options = parser.parse_args()
    result = json.loads(options.read.read_text()) if options.read else measure(options)
    result["growth"]["line"] = line(result["growth"]["own_mb"])
    report(result)
    if options.json or options.read:
        write_text(options.json or options.read, json.dumps(result, indent=2) + "\n")


def measure(options: argparse.Namespace) -> dict[str, Any]:
    return {
        "capacity": CAPACITY,
        "envs": ENVS,
        "replay": alone(replay, options.fill),
        "image": alone(image, options.image_steps),
        "growth": alone(growth, options.growth_steps),
        "load_average": os.getloadavg()[0],
    }


def report(result: dict[str, Any]) -> None:
    ring, run, grown = result["replay"], result["image"], result["growth"]
    added = ring["after"]["own_mb"] - ring["before"]["own_mb"]
    print(
        f"replay   {ring['steps']:,} steps: {added:.0f} MB of memory and {ring['after']['files_mb']:,.0f} MB of mapped "
        f"files; {ring['disk_mb']:,.0f} MB of disk"
    )
    print(
        f"image    {run['steps']:,} steps, {run['updates']:,} updates: at most {run['most']['own_mb']:,.0f} MB of "
        f"memory and {run['most']['files_mb']:,.0f} MB of mapped files"
    )
    fit = grown["line"]
    print(
        f"growth   {grown['steps']:,} steps, {grown['updates']:,} updates: {fit['mb_per_100000_steps']:+.2f} MB in "
        f"100,000 steps ({fit['low']:+.2f} to {fit['high']:+.2f}); between {fit['least_mb']:,.0f} and "
        f"{fit['most_mb']:,.0f} MB"
    )


if __name__ == "__main__":
    main()

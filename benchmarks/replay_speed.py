"""Sampling from the replay beside a plain copy of as many bytes, in one run; and what the replay takes.

A batch is 16 sequences of 64 steps with 64×64 images, drawn uniformly from a full ring whose files the system has in
memory, as far as there is room: how often a batch had to wait for the disk is counted. The rounds alternate between the
replay and the copy, so that a busy moment hits both; medians are reported. Read the ratio; machines differ, and so does
what else they do.

Memory is the process's own (anonymous), which the replay hardly adds to, and apart from it the pages of the files that
it has mapped: the system takes those back when others need them.

    python -m benchmarks.replay_speed [--capacity 50000] [--envs 8] [--rounds 200] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ambs.files import write_text
from ambs.replay import Ring

BATCH, LENGTH, ACTIONS = 16, 64, 18
LAYOUT = {
    "obs": ((64, 64, 3), "uint8"),
    "action": ((ACTIONS,), "float32"),
    "reward": ((), "float32"),
    "cost": ((), "float32"),
    "is_first": ((), "bool"),
    "is_last": ((), "bool"),
    "is_terminal": ((), "bool"),
}


def milliseconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return 1e3 * (time.perf_counter() - start)


def memory() -> dict[str, float]:
    """Of this process, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    sizes = {line.split(":")[0]: float(line.split()[1]) / 1024 for line in lines if line.endswith("kB")}
    return {"own": sizes["RssAnon"], "mapped": sizes["RssFile"]}


def disk_reads() -> int:
    """How often this process has waited for the disk, because what it wanted was not in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt


def fill(ring: Ring, rng: np.random.Generator) -> float:
    """Writes it full; milliseconds of processor time a step of all environments."""
    images = rng.integers(256, size=(64, ring.envs, 64, 64, 3), dtype=np.uint8)
    rest = {key: np.zeros((ring.envs, *shape), dtype) for key, (shape, dtype) in LAYOUT.items()}
    start = time.process_time()
    for step in range(ring.window):
        ring.add({**rest, "obs": images[step % 64]})
    return 1e3 * (time.process_time() - start) / ring.window


def measure(folder: Path, capacity: int, envs: int, rounds: int) -> dict[str, Any]:
    rng, before = np.random.default_rng(0), memory()
    ring = Ring.open(folder, LAYOUT, capacity, envs)
    add = fill(ring, rng)
    flush = milliseconds(ring.flush)
    batch = ring.sample(rng, BATCH, LENGTH)
    copy = {key: np.empty_like(array) for key, array in batch.items()}
    samples, copies, reads = [], [], disk_reads()
    for _ in range(rounds):
        samples.append(milliseconds(lambda: ring.sample(rng, BATCH, LENGTH)))
        copies.append(milliseconds(lambda: [np.copyto(copy[key], batch[key]) for key in batch]))
    after = memory()
    return {
        "capacity": capacity,
        "envs": envs,
        "batch_bytes": sum(array.nbytes for array in batch.values()),
        "sample_ms": statistics.median(samples),
        "copy_ms": statistics.median(copies),
        "sample_over_copy": statistics.median(s / c for s, c in zip(samples, copies, strict=True)),
        "disk_reads_per_sample": (disk_reads() - reads) / rounds,
        "add_ms_per_step_of_all": add,
        "flush_of_everything_ms": flush,
        "own_memory_added_mb": after["own"] - before["own"],
        "mapped_files_mb": after["mapped"],
        "disk_mb": sum(path.stat().st_size for path in folder.iterdir()) / 2**20,
        "load_average": os.getloadavg()[0],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--capacity", type=int, default=50_000)
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        row = measure(Path(folder), options.capacity, options.envs, options.rounds)
    print(
        f"{row['capacity']:,} steps of {row['envs']} environments: a batch of {row['batch_bytes'] / 2**20:.1f} MB in "
        f"{row['sample_ms']:.1f} ms, ×{row['sample_over_copy']:.2f} of a plain copy, "
        f"{row['disk_reads_per_sample']:.1f} reads of the disk; a step of all environments in "
        f"{row['add_ms_per_step_of_all']:.2f} ms; {row['own_memory_added_mb']:.0f} MB of memory, "
        f"{row['disk_mb']:,.0f} MB of disk"
    )
    if options.json:
        write_text(options.json, json.dumps(row, indent=2) + "\n")


if __name__ == "__main__":
    main()

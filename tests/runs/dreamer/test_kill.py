"""Killed twenty times at random moments, a run ends as one that nobody touched."""

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from ambs.runs.storage import latest, read_config
from tests.runs.dreamer.small import NO_TIME, rows

OPTIONS = [
    "train", "conveyor", "--agent", "dreamer", "--size", "debug", "--envs", "2", "--workers", "inline", "--batch", "2",
    "--length", "8", "--train-ratio", "1", "--capacity", "1000", "--prefill", "32", "--log-every", "40",
    "--checkpoint-every", "20", "--no-tensorboard",
]  # fmt: skip
# What may change from one life to the next, and does: processes for the environments, and event files.
MORE = ["--workers", "2", "--tensorboard"]
KILLS = 20
ROOT = Path(__file__).parents[3]


@pytest.fixture
def nursery(tmp_path):
    """Runs a command in a process of its own: gives its number, and a function that waits for its end."""
    environment = os.environ | {"AMBS_CACHE": str(tmp_path / "xla"), "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.runs.dreamer.nursery"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT,
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None

        def start(*arguments):
            server.stdin.write(json.dumps([str(one) for one in arguments]) + "\n")
            server.stdin.flush()
            return int(server.stdout.readline()), lambda: os.waitstatus_to_exitcode(int(server.stdout.readline()))

        yield start
        server.stdin.close()


def step_of(path):
    """Of the last checkpoint; a kill must not damage any, so a warning is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        manifest = latest(path / "checkpoints")
    return 0 if manifest is None else manifest["step"]


def made_progress(path, before):
    """Waits for a checkpoint later than `before`, by its name alone."""
    while not any(int(one.stem) > before for one in path.glob("checkpoints/[0-9]*.json")):
        time.sleep(0.02)


def test_killed_again_and_again(nursery, tmp_path):
    path, rng, last = tmp_path / "run", np.random.default_rng(0), 0
    for life in range(KILLS):
        more = MORE if life % 3 == 2 else []
        child, wait = nursery(*OPTIONS, *more, "--steps", 100_000, "--run", path)
        # One in four is killed before it has come anywhere; the others make some way, however slow the machine.
        if life % 4 == 3:
            time.sleep(rng.uniform(0, 2))
        else:
            made_progress(path, last)
            time.sleep(rng.uniform(0, 0.3))
        workers = children_of(child)
        os.kill(child, signal.SIGKILL)
        assert wait() == -signal.SIGKILL, "it was still at work"
        if more and life % 4 != 3:
            assert len(workers) == 2
        all_end(workers)
        step = step_of(path)
        assert step >= last
        if path.exists() and (path / "config.json").exists():
            assert read_config(path)["steps"] == 100_000
        if life % 4 != 3:
            assert step > last
        # No more than one checkpoint interval is lost: what was reported before the kill is not far ahead.
        logged = [int(json.loads(line)["step"]) for line in whole_lines(path / "metrics.jsonl")]
        assert max(logged, default=0) < step + 2 * 20
        last = step
    assert any((path / "tensorboard").iterdir())
    total = last + 60
    summary = finish(nursery, path, total)
    assert (summary["steps"], summary["updates"]) == (total, (total - 32) // 16)
    reference = finish(nursery, tmp_path / "reference", total)
    assert {**summary, **NO_TIME} == {**reference, **NO_TIME}
    for name in ("metrics", "scores"):
        assert rows(path, name) == rows(tmp_path / "reference", name)
    steps = [row["step"] for row in rows(path, "metrics")]
    assert steps == sorted(set(steps))
    # Every step and violation is that of an episode that has ended or is under way.
    under_way = latest(path / "checkpoints")["extra"]["episodes_under_way"]
    for counted, ended, going_on in (("steps", "length", "lengths"), ("violations", "violations", "violations")):
        assert summary[counted] == sum(row[ended] for row in rows(path, "scores")) + sum(under_way[going_on])


def test_a_sigterm_to_the_whole_group(tmp_path):
    """As a scheduler sends it, to the environments' processes too: there is a checkpoint, and no episode is cut off."""
    path, environment = (
        tmp_path / "run",
        os.environ | {"AMBS_CACHE": "", "XLA_FLAGS": "--xla_backend_optimization_level=0"},
    )
    # It never comes to learning, which would have to be compiled.
    options = [*OPTIONS, "--workers", "2", "--prefill", "900000", "--steps", "1000000", "--run", str(path)]
    with subprocess.Popen(
        [sys.executable, "-m", "ambs", *options],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT, start_new_session=True,
    ) as run:  # fmt: skip
        made_progress(path, 0)
        os.killpg(run.pid, signal.SIGTERM)
        _, said = run.communicate(timeout=60)
    assert run.returncode == 128 + signal.SIGTERM, said
    assert said.splitlines()[-1] == f"interrupted at step {step_of(path):,}; the same command goes on."
    assert "warning" not in said
    assert {row["length"] for row in rows(path, "scores")} <= {100}


def children_of(process):
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def all_end(processes):
    """Nobody tells the environments' processes: they notice that the trainer is gone."""
    for _ in range(1000):
        processes = [one for one in processes if Path(f"/proc/{one}").exists()]
        if not processes:
            return
        time.sleep(0.02)
    raise AssertionError(f"{processes} are still there")


def whole_lines(path):
    return [line for line in path.read_text().splitlines(keepends=True) if line.endswith("\n")] if path.exists() else []


def finish(nursery, path, steps):
    _, wait = nursery(*OPTIONS, "--steps", steps, "--run", path)
    assert wait() == 0
    return json.loads((path / "summary.json").read_text())

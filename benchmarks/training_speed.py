"""Environment steps a second of a whole training run, where its time goes, and what a start costs, cold and cached.

Each run is a process of its own, twice: once with an empty cache of compiled programs, once with what the first left
there. A start is everything up to the first action and the first gradient step, imports and compiling included; what
comes after is the loop. 8 environments inline, the CPU preset; CPU seconds, so that other work counts little.

    python -m benchmarks.training_speed [--cases NAME ...] [--agent dreamer] [--steps 512] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from ambs.agents.shielding import ShieldConfig
from ambs.commands.output import console
from ambs.envs.vector import VectorEnv
from ambs.files import write_text
from ambs.runs.devices import keep_compiled
from ambs.runs.dreamer.config import RunConfig, cpu_learner, with_safety
from ambs.runs.dreamer.status import Status
from ambs.runs.dreamer.trainee import DreamerTrainee
from ambs.runs.dreamer.training import train

PREFILL = 256
CASES = {
    "minatar-breakout nano": RunConfig(env="minatar-breakout"),
    "conveyor image nano": RunConfig(env="conveyor", env_options={"observation": "image"}),
    "seaquest tiny": RunConfig(env="seaquest", learner=cpu_learner("tiny")),
}


class Clock:
    """CPU seconds by what they were spent in, from when everything has been done once."""

    def __init__(self) -> None:
        self.spent = {"env": 0.0, "act": 0.0, "learn": 0.0}
        self.calls = dict.fromkeys(self.spent, 0)
        self.began: tuple[float, int] | None = None
        self.last = (0.0, 0)

    def timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, waited for and counted."""

        def call(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            out = function(*arguments, **options)
            jax.block_until_ready(out)
            self.spent[name] += time.process_time() - start
            self.calls[name] += 1
            return out

        return call

    def progress(self, status: Status) -> None:
        """Told at every step; the loop begins with the one after the first action and the first gradient step."""
        now = time.process_time()
        if self.began is None and min(self.calls.values()) > 0:
            self.began = (now, status.steps)
            self.spent = dict.fromkeys(self.spent, 0.0)
        self.last = (now, status.steps)


def config_of(case: str, agent: str, steps: int) -> RunConfig:
    config = CASES[case]
    if agent == "ambs":
        config = replace(config, learner=with_safety(config.learner), shield=ShieldConfig())
    total = PREFILL + steps
    return replace(config, steps=total, prefill=PREFILL, workers="inline", log_every=total, checkpoint_every=total)


def child(case: str, agent: str, steps: int) -> None:
    """One run in this process; prints what it took."""
    keep_compiled()
    clock = Clock()
    DreamerTrainee.act = clock.timed("act", DreamerTrainee.act)  # type: ignore[method-assign]
    DreamerTrainee.learn = clock.timed("learn", DreamerTrainee.learn)  # type: ignore[method-assign]
    VectorEnv.step = clock.timed("env", VectorEnv.step)  # type: ignore[method-assign]
    with tempfile.TemporaryDirectory() as folder:
        train(config_of(case, agent, steps), Path(folder) / "run", clock.progress)
    assert clock.began is not None
    loop, made = clock.last[0] - clock.began[0], clock.last[1] - clock.began[1]
    shares = {name: seconds / loop for name, seconds in clock.spent.items()}
    row = {
        "start_cpu_seconds": clock.began[0],
        "steps_per_cpu_second": made / loop,
        "shares": {**shares, "rest": 1 - sum(shares.values())},
    }
    print(json.dumps(row))


def measure(case: str, agent: str, steps: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.training_speed", "--child", case, "--agent", agent]
    with tempfile.TemporaryDirectory() as cache:
        # The first only fills the cache: one gradient step will do.
        rows = [
            json.loads(
                subprocess.run(
                    [*command, "--steps", str(count)], env={**os.environ, "AMBS_CACHE": cache}, check=True,
                    capture_output=True, text=True,
                ).stdout.splitlines()[-1]
            )
            for count in (64, steps)
        ]  # fmt: skip
    starts = {
        f"{name}_start_cpu_seconds": row.pop("start_cpu_seconds")
        for name, row in zip(("cold", "cached"), rows, strict=True)
    }
    return {"case": case, "agent": agent, **rows[1], **starts}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--agent", default="dreamer", choices=["dreamer", "ambs"])
    parser.add_argument("--steps", type=int, default=512, help="of the loop, all environments together")
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    parser.add_argument("--child", choices=list(CASES), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child, options.agent, options.steps)
        return
    rows = []
    for case in options.cases:
        rows.append(row := measure(case, options.agent, options.steps))
        shares = ", ".join(f"{share:.0%} {name}" for name, share in row["shares"].items())
        console().print(
            f"{case}, {options.agent}: {row['steps_per_cpu_second']:.0f} steps a CPU second ({shares}); a start takes "
            f"{row['cold_start_cpu_seconds']:.0f} CPU seconds, {row['cached_start_cpu_seconds']:.0f} from the cache"
        )
    if options.json:
        write_text(options.json, json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()

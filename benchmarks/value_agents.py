"""Rainbow and IQN: gradient steps, the loop beside the environment alone, and the sum tree at a million entries.

The environment alone is stepped with random actions, in the same process, before and after each agent, and the median
counts; the loop acts, stores and learns as `ambs train` does with its preset for CPUs. A gradient step is that alone:
a batch drawn, learned from, and its priorities changed. All times are of the processor, so that what else the machine
does counts less. Read the ratios; machines differ.

    python -m benchmarks.value_agents [--env minatar-breakout] [--steps 3000] [--json FILE]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import jax
import numpy as np

from ambs.envs.vector import make_vec
from ambs.files import write_text
from ambs.replay.sum_tree import SumTree
from ambs.runs.dreamer.status import Status
from ambs.runs.value import ValueRunConfig, preset, train
from ambs.runs.value.trainee import ValueTrainee
from ambs.value_agents.config import AGENTS

LEAVES, BATCH = 1_000_000, 32


def microseconds(function: Callable[[], Any], rounds: int) -> float:
    function()
    start = time.process_time()
    for _ in range(rounds):
        function()
    return 1e6 * (time.process_time() - start) / rounds


def sum_tree(rounds: int = 2000) -> dict[str, float]:
    """A batch drawn from, and written to, a tree of a million."""
    rng, tree = np.random.default_rng(0), SumTree(LEAVES)
    tree.leaves = rng.random(LEAVES)
    index, values = rng.integers(LEAVES, size=BATCH), rng.random(BATCH)
    return {
        "draw_us": microseconds(lambda: tree.draw(rng, BATCH), rounds),
        "change_us": microseconds(lambda: tree.__setitem__(index, values), rounds),
    }


def env_seconds(config: ValueRunConfig, steps: int) -> float:
    """A step of one environment, in a vector of as many as the loop has."""
    rng = np.random.default_rng(0)
    with make_vec(config.env, config.envs, seed=0, workers="inline", **config.env_options) as vec:
        vec.reset()
        actions = int(vec.single_action_space.n)  # type: ignore[attr-defined]
        start = time.process_time()
        for _ in range(steps // config.envs):
            vec.step(rng.integers(actions, size=config.envs))
        return (time.process_time() - start) / (steps // config.envs * config.envs)


def loop(config: ValueRunConfig) -> dict[str, float]:
    """Seconds of a step of the loop, and of a gradient step; from half of the learning on, when all is compiled."""
    marks: list[tuple[int, float]] = []
    learned: list[float] = []
    learn = ValueTrainee.learn

    def timed(*arguments: Any, **options: Any) -> Any:
        start = time.process_time()
        answer = jax.block_until_ready(learn(*arguments, **options))
        learned.append(time.process_time() - start)
        return answer

    def note(status: Status) -> None:
        marks.append((status.steps, time.process_time()))

    with tempfile.TemporaryDirectory() as folder, mock.patch.object(ValueTrainee, "learn", timed):
        train(config, Path(folder) / "run", note)
    late = [mark for mark in marks if mark[0] > (config.prefill + config.steps) / 2]
    step = (late[-1][1] - late[0][1]) / (late[-1][0] - late[0][0])
    return {"step": step, "update": float(np.median(learned[len(learned) // 2 :]))}


def measure(name: str, steps: int) -> dict[str, Any]:
    answer: dict[str, Any] = {"env": name, "sum_tree": sum_tree()}
    alone: list[float] = []
    times: dict[str, dict[str, float]] = {}
    for agent in AGENTS:
        # No checkpoint in what is timed: the only one is after the last step.
        config = dataclasses.replace(
            preset(agent, name, "cpu"), steps=steps, workers="inline", checkpoint_every=2 * steps, tensorboard=False
        )
        alone += [env_seconds(config, steps)]
        times[agent] = loop(config)
        alone += [env_seconds(config, steps)]
    env = float(np.median(alone))
    answer["env_steps_per_s"] = 1 / env
    for agent, took in times.items():
        answer[agent] = {
            "loop_steps_per_s": 1 / took["step"],
            "loop_over_env": took["step"] / env,
            "gradient_steps_per_s": 1 / took["update"],
            "sum_tree_share_of_gradient_step": sum(answer["sum_tree"].values()) * 1e-6 / took["update"],
        }
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", default="minatar-breakout")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    answer = measure(options.env, options.steps)
    tree = answer["sum_tree"]
    print(f"sum tree of {LEAVES:,}: a batch drawn in {tree['draw_us']:.0f} µs, changed in {tree['change_us']:.0f} µs")
    for agent in AGENTS:
        row = answer[agent]
        print(
            f"{agent} in {options.env}: {row['gradient_steps_per_s']:.0f} gradient steps/s (the sum tree is "
            f"{row['sum_tree_share_of_gradient_step']:.1%} of one), {row['loop_steps_per_s']:.0f} steps/s, "
            f"×{row['loop_over_env']:.1f} the time of the environment alone ({answer['env_steps_per_s']:.0f} steps/s)"
        )
    if options.json:
        write_text(options.json, json.dumps(answer, indent=2) + "\n")


if __name__ == "__main__":
    main()

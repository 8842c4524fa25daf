"""What a shielded step costs beside an unshielded one, and how near its rollouts come to the machine's matrix products.

Agents that have learned nothing, of the size asked for, on pictures of 64×64×3 with 18 actions; their heads are made to
hold every state for safe, the common case of an agent that has learned. So `paper` draws all of its 512 traces, and the
ladder stops at its first look. CPU seconds, medians; all kinds of steps in turn, so that each meets the same machine.

    python -m benchmarks.shielded_step [--sizes tiny s] [--repeats 15] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from rich.table import Table

from ambs.agents.learner import Learner, LearnerConfig
from ambs.agents.player import act, nothing_yet
from ambs.agents.safety import SafetyConfig
from ambs.agents.shielding import ShieldConfig, act_shielded
from ambs.bench.flops import matmul_flops
from ambs.commands.output import console
from ambs.files import write_text
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.saved import Saved
from ambs.runs.evaluate.agent import SavedAgent
from ambs.shield.imagine import imagine
from ambs.world_model.parts import Part
from ambs.world_model.rssm import without_gradient
from ambs.world_model.sizes import SIZES
from benchmarks.flops import matmul_rate

ACTIONS, SHAPE = 18, (64, 64, 3)
HORIZON, LOOK_AHEAD, TRACES = 15, 30, 512
CRITERIA = ("paper", "sound", "recover")
KEY = jax.random.key(0)
# Log-odds of what is as good as certain.
SURE = 20.0


def careless(size: str) -> Learner:
    """A fresh learner that holds every state for safe, and no episode for over."""
    config = LearnerConfig(size=size, safety=SafetyConfig(LOOK_AHEAD))
    create = eqx.filter_jit(
        lambda key: Learner.create((Part("", "image", SHAPE),), ACTIONS, config, discrete=True, key=key)
    )
    learner = create(KEY)
    assert learner.safety is not None
    return eqx.tree_at(
        lambda me: (me.model.safety.out.bias, me.model.continuation.out.bias, me.safety.violation.net.out.bias),
        learner,
        (jnp.full(1, SURE), jnp.full(1, SURE), jnp.full(LOOK_AHEAD - HORIZON, -SURE)),
    )


def steps(learner: Learner, envs: int) -> dict[str, Callable[[], Any]]:
    """A step of so many environments, without the shield and with each criterion."""
    seen, first = {"": jnp.zeros((envs, *SHAPE), jnp.uint8)}, jnp.zeros(envs, bool)
    memory = nothing_yet(learner.model, envs, ACTIONS)

    def shielded(criterion: str) -> Callable[[], Any]:
        config = ShieldConfig(criterion=criterion)
        return lambda: act_shielded(learner, config, LOOK_AHEAD, memory, seen, first, key=KEY)

    plain = {"unshielded": lambda: act(learner.model, learner.task.actor, memory, seen, first, key=KEY)}
    return plain | {criterion: shielded(criterion) for criterion in CRITERIA}


def predictions(learner: Learner, size: str) -> dict[str, Callable[[], Any]]:
    """`predict` of a loaded agent: one observation in, one action out, with all that is checked on the way."""
    config = RunConfig(learner=LearnerConfig(size=size, safety=SafetyConfig(LOOK_AHEAD)), shield=ShieldConfig())
    saved = Saved(config, 0, learner, spaces.Box(0, 255, SHAPE, np.uint8), spaces.Discrete(ACTIONS))
    agents = {"predict, no shield": SavedAgent(saved, shield=False), "predict": SavedAgent(saved)}
    picture = np.zeros(SHAPE, np.uint8)
    return {name: lambda agent=agent: agent.predict(picture) for name, agent in agents.items()}


def rollouts(learner: Learner) -> tuple[Callable[[], Any], float]:
    """512 futures of 15 steps by themselves, and the operations that they take with z written out."""

    def roll(model: Any, actor: Any, start: Any) -> Any:
        def one(key: Any) -> Any:
            trajectory = imagine(model, actor, start, HORIZON, key=key)
            return trajectory.predictions.cost.sum() + trajectory.predictions.cont.sum()

        return jax.vmap(one)(jax.random.split(KEY, TRACES))

    model, actor, start = learner.model, learner.task.actor, learner.model.rssm.initial()
    quick, compiled = without_gradient(start), eqx.filter_jit(roll)
    return lambda: compiled(model, actor, quick), matmul_flops(roll, model, actor, start)


def alternate(functions: dict[str, Callable[[], Any]], repeats: int) -> tuple[dict[str, float], float]:
    """Median CPU seconds of each, and of the rates of matrix products between them; the first round compiles."""
    times: dict[str, list[float]] = {name: [] for name in functions}
    rates = []
    for repeat in range(repeats + 1):
        for name, function in functions.items():
            start = time.process_time()
            jax.block_until_ready(function())
            if repeat:
                times[name].append(time.process_time() - start)
        if repeat:
            rates.append(matmul_rate(rounds=1))
    return {name: statistics.median(each) for name, each in times.items()}, statistics.median(rates)


def measure(size: str, repeats: int) -> dict[str, Any]:
    learner = careless(size)
    roll, flops = rollouts(learner)
    by_count = {count: steps(learner, count) for count in (1, 8)}
    named = {f"{count} {name}": one for count, all_ in by_count.items() for name, one in all_.items()}
    seconds, rate = alternate(named | predictions(learner, size) | {"rollouts": roll}, repeats)
    return {
        "size": size,
        "images": SIZES[size].images,
        "cpu_milliseconds": {name: 1e3 * each for name, each in seconds.items()},
        "over_unshielded": {
            f"{count} {name}": seconds[f"{count} {name}"] / seconds[f"{count} unshielded"]
            for count in by_count
            for name in CRITERIA
        },
        "traces": {
            name: float(np.asarray(one()[2].traces).mean()) for name, one in by_count[1].items() if name != "unshielded"
        },
        "rollouts_gflop": flops / 1e9,
        "matmul_gflop_per_cpu_second": rate / 1e9,
        "rollouts_share_of_matmul_rate": flops / seconds["rollouts"] / rate,
    }


def show(results: list[dict[str, Any]]) -> None:
    table = Table(
        "", *(one["size"] for one in results), title="CPU milliseconds of a step, and how often an unshielded one"
    )
    for name in results[0]["cpu_milliseconds"]:
        cells = []
        for one in results:
            ratio = one["over_unshielded"].get(name)
            cells.append(f"{one['cpu_milliseconds'][name]:.1f}" + (f"  ×{ratio:.1f}" if ratio else ""))
        table.add_row(name, *cells)
    for criterion in CRITERIA:
        table.add_row(f"traces, {criterion}", *(f"{one['traces'][criterion]:.0f}" for one in results))
    table.add_row(
        "rollouts' share of the matmul rate", *(f"{one['rollouts_share_of_matmul_rate']:.0%}" for one in results)
    )
    console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=["tiny", "s"], choices=list(SIZES))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    results = [measure(size, options.repeats) for size in options.sizes]
    show(results)
    if options.json:
        write_text(options.json, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

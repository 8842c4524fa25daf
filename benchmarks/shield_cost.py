"""What a decision costs: the ladder beside the fixed 512 traces, for 1 and for 64 environments, in one run.

The conveyor's exact kernel is the model, `G<=30 !acid` the formula, the safest policy the task policy (so most states
are clean, the common case) or a random one (so most are unsafe). Compiled once, then timed; read the ratios.

    python -m benchmarks.shield_cost [--repeats 50] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import ambs
from ambs.envs import Conveyor
from ambs.tabular import reward_values, safest_actions, safety_values

TESTS = {
    "ladder A": ambs.Ladder.level("A"),
    "fixed 512": ambs.Fixed(512, 5),
    "fixed 512 in 32s": ambs.Fixed(512, 5, 32),
}


def policies(env: Conveyor) -> tuple[ambs.TabularModel, dict[str, ambs.TabularPolicy]]:
    mdp = env.mdp()
    kernel = mdp.kernel.toarray().reshape(mdp.states, 5, mdp.states)
    allowed = safest_actions(safety_values(kernel, ~mdp.labels["acid"], 30))
    careful = reward_values(kernel, env.rewards(), 0.99, allowed=allowed).argmax(axis=1)
    table = {
        "careful": ambs.TabularPolicy.greedy(careful, 5),
        "random": ambs.TabularPolicy(np.full((mdp.states, 5), 0.2)),
    }
    return ambs.TabularModel(kernel, mdp.labels), table


def measure(test: ambs.StatTest, task: str, count: int, repeats: int) -> dict[str, float]:
    env = Conveyor("figure1")
    model, table = policies(env)
    shield = ambs.LookaheadShield(model, table[task], table["careful"], "P>=0.9 [ G<=30 !acid ]", test)
    decide = jax.jit(jax.vmap(lambda state, action, key: shield(state, action, key=key)))
    propose = jax.jit(jax.vmap(lambda state, key: table[task].sample(state, key=key)))
    seconds, traces, overridden = [], [], []
    for repeat in range(repeats + 1):
        state_key, action_key, key = jax.random.split(jax.random.key(repeat), 3)
        states = jax.random.randint(state_key, (count,), 0, env.layout.states)
        actions = propose(states, jax.random.split(action_key, count))
        keys = jax.random.split(key, count)
        jnp.zeros(()).block_until_ready()
        start = time.perf_counter()
        decision = jax.block_until_ready(decide(states, actions, keys))
        # The first call compiles.
        if repeat:
            seconds.append(time.perf_counter() - start)
            traces.append(float(decision.traces.mean()))
            overridden.append(float(decision.overridden.mean()))
    middle = statistics.median(seconds)
    return {
        "milliseconds": 1e3 * middle,
        "decisions_per_second": count / middle,
        "traces": statistics.mean(traces),
        "override_rate": statistics.mean(overridden),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()
    rows = []
    for task in ("careful", "random"):
        for count in (1, 64):
            for name, test in TESTS.items():
                row = measure(test, task, count, options.repeats)
                rows.append({"task": task, "environments": count, "test": name, **row})
                print(
                    f"{task:8} {count:3} environments  {name:17} {row['milliseconds']:8.2f} ms  "
                    f"{row['decisions_per_second']:9.0f} decisions/s  {row['traces']:6.1f} traces  "
                    f"{row['override_rate']:.0%} overridden"
                )
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()

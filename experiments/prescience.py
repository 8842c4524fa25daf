"""Bounded prescience in Seaquest: what it prevents around a policy, and what it costs a step.

Around a uniformly random policy, in the Atari game and in MinAtar's; or around a trained run, then also with the shield
that the run was trained with. The same seeds with and without the shield: the same first states and, at random, the
same proposals. Every game is one JSON file under results/prescience; what is there already is not played again, so the
command can be stopped and said again. The table is made of all files that are there.

Violating steps per 1,000 have a 95 % quasi-Poisson interval over blocks of 100 steps, as in `random_rates`. Time is
that of the processor, in one process, without the first steps, in which programs are compiled.

    python -m experiments.prescience [--run RUN] [--envs ENV ...] [--steps 3000] [--seeds 0 1 2]
                                     [--depth 5] [--dice same]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

import ambs
from ambs.envs.guards import GuardConfig, guarded_maker
from ambs.envs.guards.config import DICE
from ambs.envs.vector import Batch, VectorEnv, make_vec
from ambs.files import write_text
from ambs.runs.dreamer.saved import guarded_maker_of
from experiments.random_rates import interval

OUT = Path(__file__).parent.parent / "results" / "prescience"
BLOCK = 100
# In these programs are compiled; their time is not counted.
FIRST = 20


class AtRandom:
    """Proposes uniformly; what was played instead changes nothing of what it draws next."""

    def __init__(self, vec: VectorEnv, seed: int) -> None:
        self._actions = int(vec.single_action_space.n)
        self._rng = np.random.default_rng(seed)

    def act(self, batch: Batch) -> tuple[Any, Any, int]:
        return self._rng.integers(self._actions, size=len(batch.reward)), None, 0

    def played(self, actions: Any) -> None:
        """Nothing is remembered."""


class Trained:
    """The agent of a run, which samples its actions as in training."""

    def __init__(self, agent: Any) -> None:
        self._agent, self._memory = agent, None

    def act(self, batch: Batch) -> tuple[Any, Any, int]:
        """The actions, how it ranks all that there are, and how many its own shield took over."""
        seen = batch.obs, self._memory, batch.is_first
        if not self._agent.shielded:
            action, self._memory, preferences = self._agent.propose(*seen)
            return action, preferences, 0
        action, self._memory, decision = self._agent.decide(*seen)
        return action, None, int((np.asarray(decision.overridden) & ~batch.is_last).sum())

    def played(self, actions: Any) -> None:
        self._memory = self._agent.played(self._memory, actions)


def play(policy: AtRandom | Trained, vec: VectorEnv, steps: int, *, guarded: bool) -> dict[str, Any]:
    """So many steps of one environment."""
    violated, overrides, searched, longest, episodes, reward = [], 0, 0, 0, 0, 0.0
    deciding = since = 0.0
    batch = vec.reset()
    while len(violated) < steps:
        if len(violated) <= FIRST:
            deciding, since, timed_from = 0.0, time.process_time(), len(violated)
        actions, preferences, taken = policy.act(batch)
        overrides += taken
        if guarded:
            start = time.process_time()
            verdicts = vec.guard(actions, preferences)
            deciding += time.process_time() - start
            actions = verdicts.actions
            policy.played(actions)
            overrides += int(verdicts.overridden.sum())
            searched += int(verdicts.steps.sum())
            longest = max(longest, int(verdicts.steps.max()))
        batch = vec.step(actions)
        if not batch.is_first[0]:
            violated.append(bool(batch.cost[0] > 0))
            reward += float(batch.reward[0])
            episodes += bool(batch.is_last[0])
    timed = steps - timed_from
    return {
        "steps": steps,
        "violations": sum(violated),
        "violations_by_block": [sum(violated[start : start + BLOCK]) for start in range(0, steps, BLOCK)],
        "overrides": overrides,
        "simulator_steps": searched,
        "most_simulator_steps": longest,
        "episodes": episodes,
        "reward": reward,
        "milliseconds_per_decision": 1000 * deciding / timed if guarded else None,
        "milliseconds_per_step": 1000 * (time.process_time() - since) / timed,
    }


def at_random(env: str, guard: GuardConfig | None, steps: int, seed: int) -> dict[str, Any]:
    make = ambs.envs.catalogue.maker(env)
    if guard is not None:
        make = guarded_maker(make, guard, name=env)
    with make_vec(make, 1, seed=seed, workers="inline") as vec:
        return play(AtRandom(vec, seed), vec, steps, guarded=guard is not None)


def trained(run: Path, shield: Any, steps: int, seed: int) -> dict[str, Any]:
    # Seeds that no run here is trained with.
    agent = ambs.load(run, seed=seed, shield=shield)
    guard = agent.chosen.guard
    with make_vec(guarded_maker_of(agent.config, guard), 1, seed=1000 + seed, workers="inline") as vec:
        return play(Trained(agent), vec, steps, guarded=guard is not None)


def of(name: str, results: list[dict[str, Any]]) -> str:
    """A row of the table, over seeds."""
    env, policy, shield = name.split("|")
    steps = sum(one["steps"] for one in results)
    total = sum(one["violations"] for one in results)
    low, high, _ = interval([count for one in results for count in one["violations_by_block"]])
    rate = 1000 / steps
    sums = {key: sum(one[key] for one in results) for key in ("overrides", "simulator_steps", "reward", "episodes")}
    searched = shield.startswith("prescience")
    decision = f"{np.mean([one['milliseconds_per_decision'] for one in results]):.1f}" if searched else "–"
    cells = [
        env, policy, shield, f"{steps:,}", f"{total * rate:.2f} ({low * rate:.2f} to {high * rate:.2f})",
        "–" if shield == "none" else f"{sums['overrides'] / steps:.1%}",
        f"{sums['simulator_steps'] / steps:.1f}" if searched else "–",
        f"{max(one['most_simulator_steps'] for one in results):,}" if searched else "–",
        decision, f"{np.mean([one['milliseconds_per_step'] for one in results]):.1f}",
        f"{sums['reward'] * rate:.1f}", f"{sums['episodes']}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def table(files: Iterable[Path]) -> str:
    groups: dict[tuple[str, str | None], list[dict[str, Any]]] = {}
    for file in sorted(files):
        one = json.loads(file.read_text())
        # Two runs of one agent are two policies, though the table calls them alike.
        groups.setdefault((f"{one['env']}|{one['policy']}|{one['shield']}", one.get("run")), []).append(one)
    lines = [
        "Violating steps per 1,000 with a 95 % quasi-Poisson interval; time of one core in milliseconds.",
        "",
        "| environment | policy | shield | steps | violating steps per 1,000 | overridden | simulator steps a decision "
        "| most | ms a decision | ms a step, all in all | reward per 1,000 steps | episodes over |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*lines, *(of(name, results) for (name, _), results in groups.items())]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a trained run, instead of a random policy")
    parser.add_argument("--envs", nargs="+", default=["seaquest", "minatar-seaquest"], help="of the random policy")
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--depth", type=int, default=5)
    parser.add_argument("--dice", choices=DICE, default="same", help="whether the search foresees chance too")
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    guard = GuardConfig("prescience", depth=options.depth, dice=options.dice)
    searched = f"prescience-{options.depth}" + ("-own-dice" if options.dice == "own" else "")
    todo: list[tuple[str, str, str, Any]] = []
    if options.run is None:
        todo = [(env, "random", name, how) for env in options.envs for name, how in (("none", None), (searched, guard))]
    else:
        agent = ambs.load(options.run)
        policy = f"{agent.config.agent}, {agent.step:,} steps"
        todo = [(agent.config.env, policy, "none", "none"), (agent.config.env, policy, searched, guard)]
        if agent.shielded:
            todo.append((agent.config.env, policy, agent.chosen.name, True))
    for env, policy, name, how in todo:
        for seed in options.seeds:
            who = "random" if options.run is None else f"{policy.partition(',')[0]}-{options.run.name}"
            file = OUT / f"{env}-{who}-{name}-{options.steps}-{seed}.json"
            if file.exists():
                continue
            result = (
                at_random(env, how, options.steps, seed)
                if options.run is None
                else trained(options.run, how, options.steps, seed)
            )
            told = {"env": env, "policy": policy, "run": who, "shield": name, "seed": seed, **result}
            write_text(file, json.dumps(told) + "\n")
            print(f"{file.name}: {result['violations']} violations", flush=True)
    text = table(OUT.glob("*.json"))
    write_text(OUT / "table.md", text)
    print(text)


if __name__ == "__main__":
    main()

"""Is the shield calibrated? What it estimates, and decides, against what really happens after.

Agents of kept runs play under a seed that is not theirs; of the states they visit some are drawn, and of each every
criterion is asked how likely the proposed action is to stay safe.

In the conveyor worlds the truth is had by many rollouts of the world from that very state, the agent remembering along,
and compared with the exact chain of the averaged policy. Elsewhere it is what happened in the T steps that followed,
once: in `task` play for the criteria about the task policy, in `probes` for `recover`, and in `shielded` play where
nothing was overridden in the window, which leaves out just those futures that the shield thought unsafe. With `--play
random`, conveyor only, half of the proposals are any action: so there is danger to be told.

    python -m experiments.shield_calibration NAME runs/ambs/conveyor-recover-s0 ... [--states 200] [--seed 1000]

writes results/ambs/calibration-NAME.json and .png. The runs have to be of one environment and of one Δ and T.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import ambs
from ambs.agents.shielding import ShieldConfig
from ambs.envs.conveyor import Conveyor
from ambs.files import write_text
from ambs.runs.evaluate.agent import SavedAgent
from experiments.calibration import truth
from experiments.calibration.estimates import say
from experiments.calibration.figure import draw
from experiments.calibration.rows import row
from experiments.calibration.scores import Sample
from experiments.calibration.visits import PLAYS, SAFE, UNKNOWN, Visits, play, windows

FOLDER = Path(__file__).parent.parent / "results" / "ambs"
# Those that estimate one probability; `either` is two of them.
CRITERIA = ("sound", "rollout", "paper", "latent", "recover")


class Setting(NamedTuple):
    """What all runs have in common."""

    shield: ShieldConfig
    look_ahead: int
    horizon: int
    conveyor: bool

    @classmethod
    def of(cls, agent: SavedAgent) -> Setting:
        config = agent.config
        if config.shield is None or config.learner.safety is None:
            raise SystemExit(f"a run of the agent {config.agent} has no shield to calibrate; give runs of ambs.")
        conveyor = isinstance(agent.make_env().unwrapped, Conveyor)
        return cls(config.shield, config.learner.safety.look_ahead, config.learner.behaviour.horizon, conveyor)

    def within(self, criterion: str) -> int:
        """How many steps the criterion speaks of."""
        return min(self.horizon, self.look_ahead) if criterion == "latent" else self.look_ahead

    def asking(self, criterion: str) -> ShieldConfig:
        return dataclasses.replace(self.shield, criterion=criterion)

    def criteria(self, how: str) -> tuple[str, ...]:
        """Those that a way of playing can tell about."""
        if self.conveyor:
            return CRITERIA
        return ("recover",) if how == "probes" else tuple(each for each in CRITERIA if each != "recover")


def samples(
    agent: SavedAgent, setting: Setting, how: str, options: argparse.Namespace
) -> tuple[dict[str, Sample], dict[str, Any]]:
    """Of one run and one way of playing: a sample a criterion, and how the exact chain compares, if there is one."""
    if how == "random" and not setting.conveyor:
        raise SystemExit("--play random needs a world that can be rolled out from any state: a conveyor.")
    visits = play(agent, how, options.steps, options.envs, options.seed)
    if setting.conveyor:
        picked = _drawn(np.ones_like(visits.opens), options)
        safe, chain = _by_rollouts(agent, setting, visits, picked, options)
        return {each: _asked(agent, setting, each, visits, picked, safe[each], options) for each in CRITERIA}, chain
    found = {}
    for criterion in setting.criteria(how):
        came = windows(visits, setting.within(criterion))
        # A shield that overrides everything leaves no window whole.
        if (came == UNKNOWN).all():
            continue
        picked = _drawn(came != UNKNOWN, options)
        safe_once = (came == SAFE)[picked].astype(float)
        found[criterion] = _asked(agent, setting, criterion, visits, picked, safe_once, options)
    return found, {}


def _drawn(usable: np.ndarray, options: argparse.Namespace) -> tuple[np.ndarray, ...]:
    """Steps at random, without putting back."""
    rows = np.flatnonzero(usable)
    picked = np.random.default_rng(options.seed).choice(rows, min(options.states, len(rows)), replace=False)
    return np.unravel_index(np.sort(picked), usable.shape)


def _asked(
    agent: SavedAgent, setting: Setting, criterion: str, visits: Visits, picked: tuple[np.ndarray, ...],
    safe: np.ndarray, options: argparse.Namespace,
) -> Sample:  # fmt: skip
    state, proposed = jax.tree.map(lambda leaf: jnp.asarray(leaf[picked]), (visits.state, visits.proposed))
    said = say(
        agent.saved.learner, setting.asking(criterion), setting.look_ahead, state, proposed, options.traces,
        key=jax.random.key(options.seed + 1),
    )  # fmt: skip
    return Sample(np.asarray(said.estimate, float), np.asarray(said.accepted), safe, visits.episode[picked])


def _by_rollouts(
    agent: SavedAgent, setting: Setting, visits: Visits, picked: tuple[np.ndarray, ...], options: argparse.Namespace
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The share of safe futures, for each criterion: `recover` is about the safe policy, the others the task policy."""
    learner = agent.saved.learner
    assert learner.safety is not None
    world, cell = truth.World.of(agent), visits.cell[picked]
    state, proposed = jax.tree.map(lambda leaf: jnp.asarray(leaf[picked]), (visits.state, visits.proposed))
    safe, chain = {}, {}
    for name, actor in (("task", learner.task.actor), ("safe", learner.safety.policy.actor)):
        found = truth.futures(
            world, learner.model, actor, state, jnp.asarray(cell), proposed, setting.look_ahead, options.futures,
            key=jax.random.key(options.seed + 2),
            likeliest=name == "safe" and setting.shield.safe_actions != "sampled",
        )  # fmt: skip
        violation = np.asarray(found.violation)
        for criterion in CRITERIA:
            if (criterion == "recover") == (name == "safe"):
                safe[criterion] = (violation > setting.within(criterion)).mean(axis=1)
        by_cell = truth.by_chain(agent, np.asarray(found.acted, float), setting.look_ahead)
        along = by_cell[cell, np.asarray(proposed).argmax(axis=-1)]
        chain[name] = truth.compared((violation > setting.look_ahead).mean(axis=1), along, options.futures)
    return safe, chain


def pooled(parts: list[Sample]) -> Sample:
    """All runs together; an episode stays its run's."""
    offsets = np.cumsum([0, *(int(part.episode.max()) + 1 for part in parts)])
    moved = [dataclasses.replace(part, episode=part.episode + off) for part, off in zip(parts, offsets, strict=False)]
    return Sample(
        *(np.concatenate([getattr(part, field.name) for part in moved]) for field in dataclasses.fields(Sample))
    )


def calibrate(options: argparse.Namespace) -> dict[str, Any]:
    agents = [ambs.load(run) for run in options.runs]
    setting = Setting.of(agents[0])
    kept: dict[tuple[str, str], list[Sample]] = {}
    chains = []
    for run, agent in zip(options.runs, agents, strict=True):
        mine = Setting.of(agent)
        if (mine.look_ahead, mine.shield.Delta, agent.config.env) != (
            setting.look_ahead, setting.shield.Delta, agents[0].config.env,
        ):  # fmt: skip
            raise SystemExit(f"{run} has another environment, T or Δ than {options.runs[0]}; calibrate them apart.")
        if agent.config.seed == options.seed:
            raise SystemExit(f"{run} was trained with the seed {options.seed}; play it with another, by --seed.")
        for how in options.play:
            found, chain = samples(agent, mine, how, options)
            for criterion, sample in found.items():
                kept.setdefault((how, criterion), []).append(sample)
            chains += [{"run": run.name, "play": how, "policy": name, **each} for name, each in chain.items()]
            print(f"{run.name}, {how}: {[len(sample.safe) for sample in found.values()]} states", flush=True)
    if not kept:
        raise SystemExit("no step of the play can be judged; play for longer, with --steps, or with --play task.")
    futures, threshold = (options.futures if setting.conveyor else 1), 1 - setting.shield.Delta
    rows = [
        {
            "play": how,
            "criterion": criterion,
            "within": setting.within(criterion),
            **row(pooled(parts), futures, threshold, setting.asking(criterion).decides),
        }
        for (how, criterion), parts in kept.items()
    ]
    told = {name: getattr(options, name) for name in ("seed", "states", "steps", "envs", "futures", "traces")}
    return {
        "env": agents[0].config.env,
        "runs": [
            {
                "name": run.name,
                "seed": agent.config.seed,
                "step": agent.step,
                "criterion": agent.config.shield.criterion,
            }
            for run, agent in zip(options.runs, agents, strict=True)
            if agent.config.shield is not None
        ],
        "truth": "rollouts of the world" if setting.conveyor else "the steps that followed",
        "threshold": threshold,
        "settings": told | {"futures": futures},
        "rows": rows,
        "exact_chain": chains,
    }


def table(found: dict[str, Any]) -> str:
    names = ("brier", "skill", "bias", "unsafe_accepted", "unsafe_refused", "false_accepts", "false_rejects")
    lines = [f"| play | criterion | safe | accepted | {' | '.join(names).replace('_', ' ')} |", "|---" * 11 + "|"]
    for each in found["rows"]:
        cells = [each["play"], each["criterion"], f"{each['safe']:.3f}", f"{each['accepted']:.3f}"]
        cells += [_shown(each[name]) if name in each else "-" for name in names]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _shown(score: dict[str, Any]) -> str:
    if score["value"] is None:
        return "-"
    low, high = (math.nan if end is None else end for end in score["interval"])
    return f"{score['value']:.3f} ({low:.3f} to {high:.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="what the results are called")
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--play", nargs="+", choices=PLAYS, default=["shielded", "task"])
    parser.add_argument("--states", type=int, default=200, help="drawn from each run and way of playing")
    parser.add_argument("--futures", type=int, default=256, help="rollouts of the conveyor from each state")
    parser.add_argument("--traces", type=int, default=256, help="imagined from each state for an estimate")
    parser.add_argument("--steps", type=int, default=500, help="played in each environment")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    found = calibrate(options)
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_text(FOLDER / f"calibration-{options.name}.json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    title = f"{found['env']}: estimates against {found['truth']}"
    draw(found["rows"], found["threshold"], title, FOLDER / f"calibration-{options.name}.png")
    print(table(found))


if __name__ == "__main__":
    main()

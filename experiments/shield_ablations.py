"""What each part of the shield is good for: one agent, many shields, on the conveyor.

The agents of kept runs are played with one shield after another, everything else being the same: what was learned, the
seeds of the episodes, and the proposals that are judged. Of every shield:

    decisions   of actions that were proposed where no shield was (the task policy's, or with --play random every other
                one any action, so that there is danger to be told): how many pass; of those that are really
                too dangerous, by rollouts of the world from that very state, how many pass (false accepts), and of the
                others, how many do not (false rejects); and how many traces that took
    play        return, violations and overrides of whole episodes behind the shield

A shield claims something of T steps, and of the task policy, of the safe policy (`recover`) or of one of the two
(`either`); true is what that policy does in the world. By rollouts that is known to some 0.02 near the bar, so states
of which they cannot say on which side of it they are count in neither.

Critics that learned without the safety discount are another run's: given by --no-discount, they take the place of the
twins. A run with the criterion either does not ask its twins, so a second one with --no-safety-discount is the same but
for them; if it is not, to the last bit, it is refused.

All of this is about shields around an agent that has learned already; what it learns behind each of them is another
question (`experiments.training_runs ablations`). `sound` has no row for other T, since its critic learns for one.

    python -m experiments.shield_ablations NAME asked runs/ambs/conveyor-either-s0 ... [--no-discount RUN ...]
    python -m experiments.shield_ablations NAME tested runs/ambs/conveyor-either-s0 ...

write results/ambs/ablations-NAME-asked.json and .md, and the same for tested.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import ambs
from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, decide
from ambs.files import write_text
from ambs.runs.evaluate import evaluate
from ambs.runs.evaluate.agent import SavedAgent
from ambs.verify.statistics import mean_interval
from experiments.calibration import truth
from experiments.calibration.visits import Visits, play

FOLDER = Path(__file__).parent.parent / "results" / "ambs"
LOOK_AHEAD, FURTHEST = 30, 60


class Variant(NamedTuple):
    """A shield: what is other than in the run's own, and T, whatever the run's was."""

    changes: dict[str, Any]
    look_ahead: int = 30
    undiscounted: bool = False
    """With the twins of another run, that learned without the safety discount."""


def _of(criterion: str, look_ahead: int = 30, **changes: Any) -> Variant:
    return Variant({"criterion": criterion, **changes}, look_ahead)


# What is asked: with which critic, or none; of which action; of whose future.
ASKED: dict[str, Variant] = {
    "sound": _of("sound"),
    "rollout: no critic": _of("rollout"),
    "latent: no critic, H steps": _of("latent"),
    "paper": _of("paper"),
    "paper, no safety discount": Variant({"criterion": "paper"}, undiscounted=True),
    "paper, greater twin": _of("paper", twins="max"),
    "paper, first action resampled": _of("paper", first="resampled"),
    "rollout, first action resampled": _of("rollout", first="resampled"),
    "recover": _of("recover"),
    "either": _of("either"),
}
# How it is tested, by a criterion that asks once and by one that may ask twice; and how far it looks.
TESTED: dict[str, Variant] = {
    "rollout, level A": _of("rollout", test="A"),
    "rollout, level B": _of("rollout", test="B"),
    "rollout, level C": _of("rollout", test="C"),
    "rollout, 512 traces": _of("rollout", test="paper"),
    "either, level A": _of("either", test="A"),
    "either, level B": _of("either", test="B"),
    "either, level C": _of("either", test="C"),
    "either, 512 traces": _of("either", test="paper"),
    "either, sharp": _of("either", test="sharp"),
    **{f"{criterion}, T = {steps}": _of(criterion, steps) for criterion in ("either", "paper") for steps in (15, 60)},
}
VARIANTS = {"asked": ASKED, "tested": TESTED}


class Truth(NamedTuple):
    """Of each visited state and proposed action, when real futures first broke the formula."""

    task: np.ndarray
    safe: np.ndarray

    def mu(self, criterion: str, within: int) -> np.ndarray:
        """The probability of what the criterion claims."""
        task, safe = ((steps > within).mean(axis=1) for steps in self)
        if criterion == "either":
            return np.maximum(task, safe)
        return safe if criterion == "recover" else task


def shielded_by(agent: SavedAgent, variant: Variant, twins: SavedAgent | None) -> SavedAgent:
    """The agent, played with this shield."""
    config, learner = agent.config, agent.saved.learner
    assert config.shield is not None
    assert config.learner.safety is not None
    shield = dataclasses.replace(config.shield, **{"test": "auto", "explore": 0, **variant.changes})
    safety = dataclasses.replace(config.learner.safety, look_ahead=variant.look_ahead)
    if variant.undiscounted:
        assert twins is not None
        learner = eqx.tree_at(lambda me: me.safety.critics, learner, twins.saved.learner.safety.critics)
    config = dataclasses.replace(config, shield=shield, learner=dataclasses.replace(config.learner, safety=safety))
    return SavedAgent(dataclasses.replace(agent.saved, config=config, learner=learner))


def require_comparable(agent: SavedAgent, twins: SavedAgent | None) -> None:
    """That the shields here can be put around the agent, and the other's twins be asked of its states."""
    learned = agent.config.learner.safety
    if agent.config.env != "conveyor" or learned is None or learned.look_ahead != LOOK_AHEAD:
        raise SystemExit(f"runs have to be of ambs on the conveyor, with T = {LOOK_AHEAD}.")
    if twins is None:
        return
    mine, theirs = agent.saved.learner, twins.saved.learner
    assert mine.safety is not None
    if theirs.safety is None or twins.config.learner.safety is None or twins.config.learner.safety.safety_discount:
        raise SystemExit("the runs of --no-discount have to be made with --no-safety-discount.")
    pairs = ((mine.model, theirs.model), (mine.task, theirs.task), (mine.safety.policy, theirs.safety.policy))
    if not all(eqx.tree_equal(one, other) for one, other in pairs):
        raise SystemExit("a run of --no-discount is another agent than its partner: not only its twins differ.")


def known(agent: SavedAgent, visits: Visits, picked: tuple[np.ndarray, ...], options: argparse.Namespace) -> Truth:
    """By rollouts of the world, as far as any shield looks."""
    learner, world = agent.saved.learner, truth.World.of(agent)
    assert learner.safety is not None
    state, proposed = jax.tree.map(lambda leaf: jnp.asarray(leaf[picked]), (visits.state, visits.proposed))
    likeliest = agent.config.shield is not None and agent.config.shield.safe_actions != "sampled"
    found = [
        truth.futures(
            world, learner.model, actor, state, jnp.asarray(visits.cell[picked]), proposed, FURTHEST, options.futures,
            key=jax.random.key(options.seed + 2), likeliest=sure,
        ).violation
        for actor, sure in ((learner.task.actor, False), (learner.safety.policy.actor, likeliest))
    ]  # fmt: skip
    return Truth(*(np.asarray(each) for each in found))


@eqx.filter_jit
def _decisions(learner: Learner, shield: ShieldConfig, look_ahead: int, state: Any, proposed: Any, key: Any) -> Any:
    return decide(learner, shield, learner.task.config.horizon, look_ahead, state, proposed, key=key)


def judged(
    agent: SavedAgent, visits: Visits, picked: tuple[np.ndarray, ...], true: Truth, seed: int
) -> dict[str, np.ndarray]:
    """Of each state: whether the action passed, by how many traces, and whether what is claimed is true, if that can be
    told."""
    config = agent.config
    assert config.shield is not None
    assert config.learner.safety is not None
    look_ahead = config.learner.safety.look_ahead
    state, proposed = jax.tree.map(lambda leaf: jnp.asarray(leaf[picked]), (visits.state, visits.proposed))
    decision = _decisions(agent.saved.learner, config.shield, look_ahead, state, proposed, jax.random.key(seed + 3))
    # What latent shielding claims of T steps is said of H: held to T, as all others are.
    mu, bar = true.mu(config.shield.criterion, look_ahead), 1 - config.shield.Delta
    return {
        "accepted": ~np.asarray(decision.overridden),
        "traces": np.asarray(decision.traces),
        "safe": mu >= bar,
        "clear": np.abs(mu - bar) > 2 * np.sqrt(bar * (1 - bar) / true.task.shape[1]),
    }


def of_run(run: Path, twins: Path | None, options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every shield around the agent of one run."""
    agent = ambs.load(run)
    other = None if twins is None else ambs.load(twins)
    require_comparable(agent, other)
    visits = play(agent, options.play, options.steps, options.envs, options.seed)
    picked = some_of(visits, options)
    true = known(agent, visits, picked, options)
    for name, variant in VARIANTS[options.what].items():
        if variant.undiscounted and other is None:
            continue
        mine = shielded_by(agent, variant, other)
        found = judged(mine, visits, picked, true, options.seed)
        told = evaluate(mine, episodes=options.episodes, seed=options.seed + 4, workers="inline").as_json()
        played = {
            "return": told["return"]["mean"],
            "violations_per_1000_steps": told["violations_per_1000_steps"],
            "override_rate": told["override_rate"],
        }
        yield name, {"judged": found, "played": played}
        print(f"{run.name}: {name}: {played}", flush=True)


def some_of(visits: Visits, options: argparse.Namespace) -> tuple[np.ndarray, ...]:
    """Steps at random, without putting back."""
    rows = np.random.default_rng(options.seed).choice(visits.opens.size, options.states, replace=False)
    return np.unravel_index(np.sort(rows), visits.opens.shape)


def row(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    """One shield, over all runs: counts of all states together, and means over runs with their t-intervals."""
    accepted, traces, safe, clear = (
        np.concatenate([run["judged"][key] for run in runs]) for key in ("accepted", "traces", "safe", "clear")
    )
    return {
        "shield": name,
        "states": len(safe),
        "accepted": float(accepted.mean()),
        "unsafe_states": int((clear & ~safe).sum()),
        "false_accepts": int((accepted & clear & ~safe).sum()),
        "safe_states": int((clear & safe).sum()),
        "false_rejects": int((~accepted & clear & safe).sum()),
        "traces": float(traces.mean()),
        **{key: _over_runs([run["played"][key] for run in runs]) for key in runs[0]["played"]},
    }


def _over_runs(values: list[float]) -> dict[str, float | None]:
    if len(values) == 1:
        return {"mean": values[0], "low": None, "high": None}
    mean, low, high = mean_interval(np.array(values), 0.95)
    return {"mean": mean, "low": low, "high": high}


def table(rows: list[dict[str, Any]]) -> str:
    head = (
        "shield",
        "passed",
        "false accepts",
        "false rejects",
        "traces",
        "return",
        "violations / 1,000",
        "overridden",
    )
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for each in rows:
        cells = [each["shield"], f"{each['accepted']:.3f}"]
        cells += [f"{each['false_accepts']} of {each['unsafe_states']}"]
        cells += [f"{each['false_rejects']} of {each['safe_states']}"]
        cells += [f"{each['traces']:.0f}", _mean(each["return"], 2), _mean(each["violations_per_1000_steps"], 1)]
        lines.append(f"| {' | '.join([*cells, _mean(each['override_rate'], 3)])} |")
    return "\n".join(lines)


def _mean(found: dict[str, float | None], digits: int) -> str:
    mean, low, high = (found[name] for name in ("mean", "low", "high"))
    wide = "" if low is None or high is None else f" ± {(high - low) / 2:.{digits}f}"
    return f"{mean:.{digits}f}{wide}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", help="what the results are called")
    parser.add_argument("what", choices=VARIANTS, help="which shields: what is asked, or how it is tested and how far")
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument(
        "--no-discount", nargs="+", type=Path, help="runs whose twins learned so, of the first of `runs` and so on"
    )
    parser.add_argument("--play", choices=("task", "random"), default="random", help="what is proposed, to be judged")
    parser.add_argument("--states", type=int, default=300, help="drawn from each run")
    parser.add_argument("--futures", type=int, default=256, help="rollouts of the world from each state")
    parser.add_argument("--steps", type=int, default=200, help="played in each environment to draw them from")
    parser.add_argument("--episodes", type=int, default=16, help="played behind each shield")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    twins = options.no_discount or []
    if len(twins) > len(options.runs):
        parser.error(f"--no-discount names {len(twins)} runs, and there are {len(options.runs)} to judge.")
    found: dict[str, list[dict[str, Any]]] = {}
    for run, other in zip_longest(options.runs, twins):
        for name, each in of_run(run, other, options):
            found.setdefault(name, []).append(each)
    rows = [row(name, runs) for name, runs in found.items()]
    told = {name: getattr(options, name) for name in ("play", "states", "futures", "steps", "episodes", "envs", "seed")}
    others = [run.name for run in options.no_discount or ()]
    kept = {"runs": [run.name for run in options.runs], "no_discount": others, "settings": told, "rows": rows}
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_text(FOLDER / f"ablations-{options.name}-{options.what}.json", json.dumps(kept, indent=1) + "\n")
    write_text(FOLDER / f"ablations-{options.name}-{options.what}.md", table(rows) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()

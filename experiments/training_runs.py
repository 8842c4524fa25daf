"""What agents learn: whole training runs by the command line, one core each.

A suite is a list of runs; every run is `ambs train` with the options below, resumed if it was stopped, and its scores
become one small file under results/AGENT: mean return, episodes and violations of each fiftieth of its steps. What is
there already is not run again. Comparisons of all agents are suites of `ambs bench`, kept by `experiments.keep_bench`.

    python -m experiments.training_runs minatar [--jobs 2] [--seeds 0 1 2] [--only minatar-breakout]
    python -m experiments.learning_figure
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

from ambs.bench.child import ONE_CORE, ours_with
from ambs.files import write_text
from ambs.runs.curves import BINS, Curves

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True)
class Plan:
    """One training run, but for its seed."""

    env: str
    steps: int
    options: tuple[str, ...] = ()
    name: str = ""
    agent: str = "dreamer"

    @property
    def called(self) -> str:
        return self.name or self.env

    def of(self, seed: int) -> Path:
        return Path(self.agent, f"{self.called}-s{seed}")


# The defaults of the command; they were chosen on data of random play and on seeds from 100 on.
GRIDS = ("--workers", "inline")
PIXELS = (*GRIDS, "--option", "observation=image")
# Games on a grid, whose cells are their own code; chosen on seeds 100 and 101.
CELLS = (*GRIDS, "--preset", "cells")
# From the screen, with nothing chosen: there is no time here to try other options.
ATARI = ("--size", "tiny", "--capacity", "100000", "--workers", "inline")
# Random steps that get as far as the goal, and a model for the shield from its first step on, that learns in few
# gradient steps and imagines chance as it happens; for all that are compared. Chosen on random play and on seed 100.
PRETRAINED = (
    *PIXELS, "--hold", "4", "--pretrain", "1500", "--batch", "8", "--learning-rate", "0.004", "--clip", "300",
    "--second-decay", "0.99", "--dynamics-weight", "3", "--representation-weight", "0.3", "--pictures-weight", "100",
)  # fmt: skip
# A task policy that knows nothing of safety ended up proposing what was refused, again and again (seed 100).
# And a safe policy that was certain early stayed wrong where it had not been yet (seeds 102 and 103).
SHIELDED = (*PRETRAINED, "--unsafe-ends", "--safe-entropy", "0.03")
# Behind `either` random actions pass where there is a way out; chosen on seeds 100 and 101.
EXPLORED = ("--criterion", "either", "--explore", "3000")
SHORT = 16_000
CRITERIA = {
    "either": EXPLORED, **{each: ("--criterion", each) for each in ("recover", "sound", "paper", "rollout", "latent")}
}  # fmt: skip
VALUES = ("rainbow", "iqn")
# Asterix is slow to learn: rewards are rare, and after 200,000 steps of the defaults both were next to random. Steps of
# it are cheap: more of them for each gradient step, with a discount that lets less chance into a target; and quantiles
# that take a third of the time. Chosen on seeds 100 and 101.
RARE = (
    *GRIDS, "--envs", "32", "--update-every", "8", "--target-every", "2000", "--discount", "0.95", "--learning-rate",
    "0.001", "--checkpoint-every", "20000",
)  # fmt: skip
SLOW = {"rainbow": (*RARE, "--most-value", "3"), "iqn": (*RARE, "--taus", "8")}
# What each part of the shield is good for, on the conveyor from images: one option changed at a time, beside the
# criteria as they are. `rollout` and `latent` have no critic; `first` matters only where the task policy goes on.
ABLATIONS: dict[str, tuple[str, ...]] = {
    "paper-no-discount": ("--criterion", "paper", "--no-safety-discount"),
    "paper-max": ("--criterion", "paper", "--twins", "max"),
    "paper-resampled": ("--criterion", "paper", "--first", "resampled"),
    "sound-resampled": ("--criterion", "sound", "--first", "resampled"),
    "either-no-explore": ("--criterion", "either"),
    # The same agent but for its twins, which `either` does not ask: for `experiments.shield_ablations --no-discount`.
    "either-no-discount": (*EXPLORED, "--no-safety-discount"),
    **{f"either-{level}": (*EXPLORED, "--test", level) for level in ("sharp", "A", "B", "C")},
    "either-512": (*EXPLORED, "--test", "paper"),
    **{
        f"{criterion}-T{steps}": (*CRITERIA[criterion], "--look-ahead", str(steps))
        for criterion in ("either", "paper")
        for steps in (15, 60)
    },
}
SUITES = {
    "minatar": [
        Plan("minatar-asterix", 40_000, CELLS),
        *(Plan(f"minatar-{game}", 30_000, CELLS) for game in ("breakout", "space-invaders")),
        # With learned codes, as the paper has it.
        *(Plan(f"minatar-{game}", 60_000, GRIDS, f"minatar-{game}-codes") for game in ("breakout", "space-invaders")),
    ],
    "conveyor": [
        Plan("conveyor", 40_000, GRIDS, "conveyor-grid"),
        Plan("conveyor", 40_000, PIXELS, "conveyor-pixels"),
    ],
    "atari": [
        Plan("seaquest", 30_000, ATARI),
        Plan("seaquest", 30_000, (*ATARI, "--criterion", "sound"), "seaquest-sound", "ambs"),
    ],
    "shielded-conveyor": [
        Plan("conveyor", SHORT, PRETRAINED, "conveyor-pretrained"),
        *(
            Plan("conveyor", SHORT, (*SHIELDED, *options), f"conveyor-{name}", "ambs")
            for name, options in [*CRITERIA.items(), ("either-no-explore", ABLATIONS["either-no-explore"])]
        ),
    ],
    "ablations": [
        Plan("conveyor", SHORT, PRETRAINED, "conveyor-pretrained"),
        *(
            Plan("conveyor", SHORT, (*SHIELDED, *options), f"conveyor-{name}", "ambs")
            for name, options in [*CRITERIA.items(), *ABLATIONS.items()]
        ),
    ],
    # The paper's threshold for LAG, 9.1 of cost, is never reached here; 3 binds.
    "lag": [
        Plan("conveyor", SHORT, (*PRETRAINED, "--cost-threshold", "3", *means), f"conveyor-lag{name}", "lag")
        for name, means in (("", ()), ("-symlog", ("--cost-means", "symlog")))
    ],
    "values": [
        *(Plan("minatar-breakout", 60_000, GRIDS, "", agent) for agent in VALUES),
        *(Plan("minatar-asterix", 800_000, SLOW[agent], "", agent) for agent in VALUES),
        *(Plan("conveyor", 40_000, GRIDS, "conveyor-grid", agent) for agent in VALUES),
    ],
    # An agent of ambs whose shield never begins: its critics and model learn, and what they foretell of the task policy
    # can be set against what came (`experiments.shield_calibration`). A model before it acts, as in `ambs bench`.
    "foretelling": [
        Plan(
            "minatar-asterix",
            10_000,
            (*CELLS, "--prefill", "2000", "--pretrain", "300", "--criterion", "sound", "--shield-after", "10000"),
            "minatar-asterix-foretelling",
            "ambs",
        ),
    ],
    "longer": [Plan("minatar-asterix", 80_000, CELLS, "minatar-asterix-longer")],
    "hard": [
        Plan("minatar-seaquest", 30_000, CELLS),
        Plan("minatar-freeway", 60_000, GRIDS, "minatar-freeway-codes"),
    ],
}


def run(plan: Plan, seed: int, core: int, folder: Path) -> dict:
    """Trains to the end, and gives what is worth keeping."""
    told = ["train", plan.env, "--agent", plan.agent, "--seed", str(seed), "--steps", str(plan.steps), *plan.options]
    process = subprocess.Popen(
        [sys.executable, "-m", "ambs", *told, "--run", str(folder), "--json"],
        env=ours_with(ONE_CORE), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.sched_setaffinity(process.pid, {core})
    _, err = process.communicate()
    if process.returncode:
        raise SystemExit(f"ambs {' '.join(told)} ended with {process.returncode}: {err.strip()[-500:]}")
    return kept(folder, " ".join(["ambs", *told]), plan.steps)


def kept(folder: Path, command: str, steps: int) -> dict:
    """What is worth keeping of a finished run."""
    metrics = rows(folder / "metrics.jsonl")
    config, summary = (
        json.loads((folder / f"{name}.json").read_text(encoding="utf-8")) for name in ("config", "summary")
    )
    # As it was typed it has the folder in it, which is of this machine alone.
    maker = summary.get("made_by") or {}
    for each in (maker, *(maker.get("earlier") or [])):
        (each or {}).pop("command", None)
    return {
        "command": command,
        "config": config,
        "summary": summary,
        "curve": Curves.of(folder, steps).as_json(),
        # Of agents without a world model: loss, error and value.
        "losses": thinned(metrics, "loss", "error", "value"),
        "shield": thinned(metrics, "shield/"),
        "lagrangian": thinned(metrics, "lagrangian/"),
    }


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def thinned(metrics: list[dict], *prefix: str) -> dict:
    """The metrics whose names begin so, at no more than so many moments."""
    having = [row for row in metrics if any(name.startswith(prefix) for name in row)]
    kept = having[:: max(1, len(having) // BINS)]
    names = ["step", *sorted({name for row in kept for name in row if name.startswith(prefix)})]
    # Not every row has all of them, and what was no finite number is null there.
    return {name: [None if row.get(name) is None else round(row[name], 4) for row in kept] for name in names}


def chosen(suite: str, only: list[str] | None) -> list[Plan]:
    """The plans of a suite, or those of these names."""
    plans = SUITES[suite]
    unknown = set(only or ()) - {plan.called for plan in plans}
    if unknown:
        names = ", ".join(dict.fromkeys(plan.called for plan in plans))
        raise SystemExit(f"{suite} has no {', '.join(sorted(unknown))}; it has {names}.")
    return [plan for plan in plans if only is None or plan.called in only]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("--only", nargs="+", help="the names of the suite's plans to run, if not all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first-core", type=int, default=0)
    options = parser.parse_args()
    plans = chosen(options.suite, options.only)
    cores: SimpleQueue[int] = SimpleQueue()
    for core in range(options.first_core, options.first_core + options.jobs):
        cores.put(core)

    def do(job: tuple[Plan, int]) -> None:
        plan, seed = job
        path = ROOT / "results" / plan.of(seed).with_suffix(".json")
        if path.exists():
            return
        core = cores.get()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(run(plan, seed, core, ROOT / "runs" / plan.of(seed))) + "\n")
        finally:
            cores.put(core)
        print(path.name, json.loads(path.read_text())["summary"], flush=True)

    jobs = [(plan, seed) for seed in options.seeds for plan in plans]
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(do, jobs))


if __name__ == "__main__":
    main()

"""Training from the first line to the last: the folder, the environments, the run, its summary."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from ambs.envs.foreign import Foreign
from ambs.envs.vector import make_vec
from ambs.errors import AmbsError
from ambs.files import write_text
from ambs.runs.as_before import AS_BEFORE
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.counters import Counters
from ambs.runs.dreamer.interruption import Interruption
from ambs.runs.dreamer.offline import require_enough, require_satisfied, source_of
from ambs.runs.dreamer.run import Run
from ambs.runs.dreamer.saved import guarded_maker_of, make_env, maker_of
from ambs.runs.dreamer.status import Progress, Status, nobody
from ambs.runs.dreamer.trainee import DreamerTrainee
from ambs.runs.made_by import Maker, and_now, makers, told
from ambs.runs.storage import MAY_CHANGE, RunFolder, latest
from ambs.runs.trainee import Settings, Trainee


def train(config: RunConfig, path: Path, progress: Progress = nobody, command: str | None = None) -> dict[str, Any]:
    """Trains in the folder `path`, from its last checkpoint if there is one, and gives the summary.

    Ctrl-C and SIGTERM end it with `Interrupted` after a last checkpoint; called again, it goes on from there. A run
    that has all its steps is left as it is.

    Args:
        config: What to train. Of a run that is resumed only some options may differ from before: others are refused.
        path: The run's folder, as `docs/run-folder.md` describes it.
        progress: Told at every step how far the run has come.
        command: What was typed to make it, to be told in its summary; nothing, from Python.
    """
    if config.start is not None and not any((path / "checkpoints").glob("*.json")):
        # Here, where nothing is on disk yet; a run that has begun has it all in its replay.
        env = make_env(config)
        source = source_of(config, env.observation_space, env.action_space)
        require_enough(source, config.envs, config.length)
        if config.shield is not None:
            require_satisfied(source)
        env.close()
    return conduct(DreamerTrainee, config, path, progress, command)


def conduct(
    kind: type[Trainee], config: Settings, path: Path, progress: Progress = nobody, command: str | None = None
) -> dict[str, Any]:
    """The same for any kind of agent."""
    with contextlib.ExitStack() as stack:
        interruption = stack.enter_context(Interruption())
        # Before the folder: an environment that there is not, or that cannot be learned, should leave none behind.
        make = maker_of(config)
        guarded = guarded_maker_of(config, config.guard)
        vec = stack.enter_context(make_vec(guarded, config.envs, seed=config.seed, workers=config.workers))
        kind.require(config, vec)
        if isinstance(make, Foreign) and make.note is not None:
            warnings.warn(make.note, stacklevel=2)
        folder = stack.enter_context(
            RunFolder.open(path, saved_options(config), may_change=MAY_CHANGE | kind.may_change)
        )
        manifest = _last_checkpoint(folder)
        counters = Counters.from_json(manifest["extra"]["counters"]) if manifest else Counters()
        note = _note(folder, counters.steps, config.steps)
        if counters.steps >= config.steps:
            progress(Status("done", counters.steps, config.steps, counters.episodes, counters.violations,
                            counters.updates, counters.mean_return(20), note))  # fmt: skip
            return _summarise(kind, config, counters, path, makers(manifest))
        # Now, and not at the end: the source may be another by then.
        by = and_now(makers(manifest), command)
        run = Run(kind, kind.resumed(config, manifest), folder, vec, manifest, by)
        stack.enter_context(contextlib.closing(run))
        # There is a summary where the run has all its steps; one that is given more has not.
        (path / "summary.json").unlink(missing_ok=True)
        progress(run.status("starting", note))
        run.train(progress, interruption)
        return _summarise(kind, config, run.counters, path, by)


def saved_options(config: Settings) -> dict[str, Any]:
    """The configuration as it is saved; without what older runs do not have, where it is as it was then."""
    options = {"agent": config.agent, **dataclasses.asdict(cast(Any, config))}
    for option, before in AS_BEFORE.items():
        *groups, name = option.split(".")
        within = options
        for group in groups:
            within = within.get(group) or {}
        if name in within and within[name] == before:
            del within[name]
    return options


def _last_checkpoint(folder: RunFolder) -> dict[str, Any] | None:
    manifest = latest(folder.checkpoints)
    if manifest is None and any(folder.checkpoints.glob("*.json")):
        raise AmbsError(
            f"none of the checkpoints in {folder.checkpoints} is whole, so the run cannot go on; start a new one in "
            "another folder."
        )
    return manifest


def _note(folder: RunFolder, steps: int, total: int) -> str:
    """What is worth saying about a run that had been begun before."""
    if not folder.resumed:
        return ""
    begin = f"the run {folder.path} " + ("has its steps already" if steps >= total else f"goes on from step {steps:,}")
    changed = [f"{name} was {was} and is now {now}" for name, (was, now) in folder.changed.items()]
    return "; ".join([begin, *changed])


def _summarise(
    kind: type[Trainee], config: Settings, counters: Counters, path: Path, by: Sequence[Maker | None]
) -> dict[str, Any]:
    """The run in a few numbers, which stay in its folder."""
    summary = {
        "env": config.env,
        "agent": config.agent,
        **kind.summary(config, counters),
        **({} if config.guard is None else {"shield": config.guard.name, "override_rate": counters.override_rate}),
        "seed": config.seed,
        "steps": counters.steps,
        "updates": counters.updates,
        "episodes": counters.episodes,
        "violations": counters.violations,
        "violations_per_1000_steps": round(1000 * counters.violations / counters.steps, 3),
        "best_return": counters.best_return,
        "final_return": counters.mean_return(),
        "wall_seconds": round(counters.wall_seconds, 1),
        "cpu_seconds": round(counters.cpu_seconds, 1),
        **told(by),
    }
    write_text(path / "summary.json", json.dumps(summary, indent=2) + "\n")
    return summary

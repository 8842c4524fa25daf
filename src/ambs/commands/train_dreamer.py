"""Training of an agent with a world model: from options to a configuration, and what a person sees of the run."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from ambs.commands.train_ambs import AmbsOptions, shielded
from ambs.commands.train_lag import LagOptions, constrained
from ambs.commands.train_progress import display
from ambs.commands.train_report import report
from ambs.commands.train_shield import guarded, with_criterion
from ambs.commands.typed import command_line
from ambs.errors import AmbsError

if TYPE_CHECKING:
    from ambs.commands.train import Train
    from ambs.runs.dreamer import RunConfig
    from ambs.runs.dreamer.config import StartConfig
    from ambs.runs.trainee import Settings

# Sizes whose networks are so small that threads are in each other's way.
_SMALL = ("debug", "nano")


@dataclass(frozen=True)
class DreamerOptions:
    """For all agents but tabular; what is said of values that are not given is of the agents with a world model."""

    option: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(metavar="NAME=VALUE")] = ()
    """An option of the environment, e.g. observation=image; may be given several times."""

    size: str | None = None
    """Of the networks: debug, nano, tiny, xs, s, m, l or xl; nano if not given."""

    images: Literal["patches", "convolutions"] | None = None
    """How images are read and drawn: patches (without overlap, which a CPU is fast at) or convolutions (as in the
    paper); patches up to the size tiny and convolutions from xs on if not given."""

    preset: Literal["cpu", "cells", "paper"] | None = None
    """Where the options of learning below come from: cpu (for runs of 10^5 steps), cells (the same for games on a grid,
    whose cells are their own code) or paper (its table); cpu if not given."""

    learning_rate: float | None = None
    """Of the world model; the preset's if not given."""

    clip: float | None = None
    """The largest norm of the world model's gradient; 1000 if not given."""

    second_decay: float | None = None
    """How long its optimiser remembers the squares of gradients, Adam's second beta; 0.999 if not given."""

    actor_learning_rate: float | None = None
    """Of the policy; the preset's if not given."""

    critic_learning_rate: float | None = None
    """Of the value; the preset's if not given."""

    dynamics_weight: float | None = None
    """Of the world model's dynamics loss, which pulls what is imagined towards what is seen; 0.5 if not given."""

    representation_weight: float | None = None
    """Of its representation loss, which pulls what is seen towards what was imagined; 0.1 if not given."""

    pictures_weight: float | None = None
    """Of pictures in its loss of the observation; 30 if not given, and 1 with the preset paper."""

    grids: Literal["codes", "cells"] | None = None
    """What an observation that is one grid of zeros and ones is to the world model: codes (learned ones, as of all
    other observations) or cells (itself); codes if not given, and cells with the preset of that name."""

    entropy: float | None = None
    """The weight of the policy's entropy; 0.003 if not given, 0.02 with the preset cells, 0.0003 with paper."""

    discount: float | None = None
    """How much the next step counts; 0.997 if not given, and 0.98 with the preset cells."""

    horizon: int | None = None
    """Steps imagined; 15 if not given."""

    envs: int | None = None
    """Environments side by side; 8 if not given."""

    workers: str | None = None
    """Processes for the environments: auto, inline or a number; auto if not given."""

    batch: int | None = None
    """Sequences in a gradient step; 16 if not given."""

    length: int | None = None
    """Their length; 16 if not given, and 64 with the preset paper."""

    train_ratio: float | None = None
    """Steps replayed for each step made; 16 if not given, and 64 with the preset paper."""

    capacity: int | None = None
    """Steps that the replay holds; 1000000 if not given."""

    prefill: int | None = None
    """Steps with random actions before learning begins; 1000 if not given."""

    hold: int | None = None
    """Steps that each random action is held for on average; 1 if not given. A walk with more gets further."""

    start_from: Path | None = None
    """Episodes to begin with: a run folder, a dataset as Minari stores it, or an .npz file of the same arrays."""

    offline_updates: int | None = None
    """Gradient steps on them before the first step in the environment; 0 if not given."""

    pretrain: int | None = None
    """Gradient steps on the random steps before the agent begins to act; 0 if not given, for ambs without a world
    1500."""

    log_every: int | None = None
    """Steps between rows of metrics; 1000 if not given."""

    checkpoint_every: int | None = None
    """Steps between checkpoints; 5000 if not given."""

    devices: int | None = None
    """Accelerators that share every batch out; all of them if not given, and one device on a CPU."""

    tensorboard: bool = True
    """Whether to write event files for TensorBoard."""


def train_dreamer(command: Train, options: DreamerOptions, own: AmbsOptions | LagOptions | None) -> None:
    """With options of their `own`, the agents ambs and lag."""
    # Slow to import, and the other commands do without.
    from ambs.runs.devices import without_threads
    from ambs.runs.dreamer import train

    config = dreamer_settings(command, options, own)
    if config.learner.size in _SMALL:
        without_threads()
    conduct(train, config, command)


def dreamer_settings(command: Train, options: DreamerOptions, own: AmbsOptions | LagOptions | None) -> RunConfig:
    """The configuration of the run."""
    config = configuration(command, options)
    if isinstance(own, AmbsOptions):
        return shielded(config, command, with_criterion(own, command.guard))
    config = guarded(config, command)
    return config if own is None else constrained(config, own, paper=options.preset == "paper")


def conduct(train: Callable[..., dict[str, Any]], config: Settings, command: Train) -> None:
    """Trains as `config` says, and shows the run while it runs and what came of it."""
    from ambs.runs.devices import keep_compiled
    from ambs.runs.dreamer import Interrupted

    keep_compiled()
    agent = config.agent if config.guard is None else f"{config.agent}-{config.guard.name}"
    folder = command.run_dir or Path("runs") / f"{re.sub(r'[/:]', '-', config.env)}-{agent}-s{config.seed}"
    if config.steps <= config.prefill:
        _say(
            f"all of the {config.steps:,} steps are random ones, since there are {config.prefill:,} of those to begin "
            "with, so that nothing is learned; give more --steps, or less --prefill."
        )
    with warnings.catch_warnings():
        warnings.showwarning = _say  # type: ignore[assignment]
        try:
            with display() as progress:
                summary = train(config, folder, progress, command_line())
        except Interrupted as stop:
            print(stop, file=sys.stderr)
            raise SystemExit(128 + stop.signal) from stop
    report(summary, folder, quiet=command.json)


def configuration(command: Train, options: DreamerOptions) -> RunConfig:
    """What was given on the command line, and the defaults for the rest."""
    from ambs.agents.learner import LearnerConfig
    from ambs.runs.dreamer import RunConfig, cpu_learner
    from ambs.runs.dreamer.config import PAPER, cells_learner

    presets: dict[str, Callable[[str], LearnerConfig]] = {
        "cpu": cpu_learner, "cells": cells_learner, "paper": LearnerConfig,
    }  # fmt: skip
    learner = presets[options.preset or "cpu"](options.size or "nano")
    for name, changes in (
        ("world_model", given(options, "learning_rate", "clip", "second_decay")),
        ("actor", _rate(options.actor_learning_rate)),
        ("critic", _rate(options.critic_learning_rate)),
    ):
        optimiser = dataclasses.replace(getattr(learner, name), **changes)
        learner = dataclasses.replace(learner, **{name: optimiser})
    pulls = {
        "dynamics": options.dynamics_weight,
        "representation": options.representation_weight,
        "pictures": options.pictures_weight,
    }
    if (options.grids or learner.grids) == "cells" and any(weight is not None for weight in pulls.values()):
        raise AmbsError(
            "a model of cells has no losses of dynamics, representation and pictures; leave out --dynamics-weight, "
            "--representation-weight and --pictures-weight, or take --grids codes."
        )
    weights: dict[str, Any] = {name: weight for name, weight in pulls.items() if weight is not None}
    learner = dataclasses.replace(learner, **weights, **given(options, "grids"))
    # What the size has anyway is left out, so that a run is the same with it and without.
    if options.images is not None and options.images != learner.dimensions.images:
        learner = dataclasses.replace(learner, images=options.images)
    learner = dataclasses.replace(
        learner, behaviour=dataclasses.replace(learner.behaviour, **given(options, "entropy", "discount", "horizon"))
    )
    names = [field.name for field in dataclasses.fields(RunConfig)]
    flat = given(options, *(name for name in names if hasattr(options, name) and name != "workers"))
    own = given(command, "formula", "steps")
    if options.preset == "paper":
        flat = PAPER | flat
    return RunConfig(
        env=command.world, env_options=env_options(options.option), seed=command.seed,
        workers=workers(options.workers), learner=learner, start=_start(options), **own, **flat,
    )  # fmt: skip


def _rate(rate: float | None) -> dict[str, Any]:
    return {} if rate is None else {"learning_rate": rate}


def _start(options: DreamerOptions) -> StartConfig | None:
    from ambs.runs.dreamer.config import StartConfig

    if options.start_from is None:
        if options.offline_updates is not None:
            raise AmbsError("--offline-updates is given, and there is nothing to learn from; add --start-from.")
        return None
    return StartConfig(str(options.start_from), options.offline_updates or 0)


def given(options: Any, *names: str) -> dict[str, Any]:
    """Of these options those that were given."""
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def env_options(given: tuple[str, ...]) -> dict[str, Any]:
    """What the environment is to be made with."""
    options: dict[str, Any] = {}
    for one in given:
        name, equals, text = one.partition("=")
        if not (name.isidentifier() and equals):
            raise AmbsError(f'--option is "{one}", and has to be NAME=VALUE, e.g. --option observation=image.')
        if name in options:
            raise AmbsError(f"--option {name} is given twice; leave one of them out.")
        try:
            options[name] = json.loads(text)
        except ValueError:
            options[name] = text
    return options


def workers(given: str | None) -> int | str:
    """As `make_vec` takes it."""
    if given in (None, "auto", "inline"):
        return given or "auto"
    if not given.isdecimal() or int(given) < 1:
        raise AmbsError(f'workers is "{given}", and has to be auto, inline or a number of processes of at least 1.')
    return int(given)


def _say(message: Warning | str, *_: Any) -> None:
    """A warning as a sentence; where in our code it arose says nothing to a user."""
    print(f"warning: {message}", file=sys.stderr)

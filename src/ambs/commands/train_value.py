"""Training of Rainbow and IQN: from options to a configuration. What a person sees of the run is the same for all."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ambs.commands.train_dreamer import DreamerOptions, conduct, env_options, given, workers
from ambs.commands.train_shield import guarded
from ambs.errors import AmbsError

if TYPE_CHECKING:
    from ambs.commands.train import Train
    from ambs.runs.value import ValueRunConfig
    from ambs.value_agents.config import ValueConfig

# Of the options of the agents with a world model, those that these agents have too.
_SHARED = frozenset(
    {"option", "preset", "learning_rate", "discount", "envs", "workers", "batch", "capacity", "prefill", "hold",
     "log_every", "checkpoint_every", "tensorboard"}
)  # fmt: skip


@dataclass(frozen=True)
class ValueOptions:
    """Only for the agents rainbow and iqn."""

    without: tuple[str, ...] = ()
    """Components of Rainbow to leave out: noisy, dueling, double, priorities, multistep, distributional."""

    units: int | None = None
    """Of hidden layers; 128 if not given, and 512 with the preset paper."""

    stack: int | None = None
    """The last so many observations are seen as one; 4 in Atari games and 1 elsewhere if not given."""

    update_every: int | None = None
    """Steps between gradient steps; 4 if not given."""

    target_every: int | None = None
    """Steps after which the target network is renewed; 1000 if not given, and 8000 with the preset paper."""

    most_value: float | None = None
    """The largest value that Rainbow's distribution can hold; 10 if not given."""

    taus: int | None = None
    """Quantiles that IQN draws of the values it learns, and as many of those it learns from; 64 if not given."""

    epsilon_steps: int | None = None
    """Steps after the random ones of the beginning over which random actions become rare, to 1 in 100: of IQN, and of
    Rainbow without noisy layers; 20000 if not given, and 250000 with the preset paper."""


def train_value(command: Train, shared: DreamerOptions, options: ValueOptions) -> None:
    # Slow to import, and the other commands do without.
    from ambs.runs.value import train

    conduct(train, value_settings(command, shared, options), command)


def value_settings(command: Train, shared: DreamerOptions, options: ValueOptions) -> ValueRunConfig:
    """The configuration of the run."""
    return guarded(configuration(command, shared, options), command)


def configuration(command: Train, shared: DreamerOptions, options: ValueOptions) -> ValueRunConfig:
    """What was given on the command line, and the preset's for the rest."""
    from ambs.runs.value import ValueRunConfig, preset

    _require_shared(shared, command.agent)
    config = preset(command.agent, command.world, shared.preset)
    learner = dataclasses.replace(
        config.learner, without=options.without, **given(shared, "discount"),
        **given(options, "units", "stack", "most_value", "epsilon_steps"),
    )  # fmt: skip
    if options.most_value is not None and not learner.has("distributional"):
        raise AmbsError(
            "--most-value is the end of the distribution that Rainbow learns, and there is none here; leave it out."
        )
    if options.epsilon_steps is not None and learner.has("noisy"):
        raise AmbsError(
            "--epsilon-steps say how long actions are random, and with noisy layers none is; leave it out, or add "
            "--without noisy."
        )
    if options.taus is not None:
        learner = _with_taus(learner, options.taus)
    if shared.learning_rate is not None:
        optimiser = dataclasses.replace(learner.optimiser, learning_rate=shared.learning_rate)
        learner = dataclasses.replace(learner, optimiser=optimiser)
    names = {field.name for field in dataclasses.fields(ValueRunConfig)} & _SHARED - {"workers"}
    flat: dict[str, Any] = {**given(command, "formula", "steps"), **given(options, "update_every", "target_every")}
    return dataclasses.replace(
        config, env_options=config.env_options | env_options(shared.option), seed=command.seed,
        workers=workers(shared.workers), learner=learner, **flat, **given(shared, *sorted(names)),
    )  # fmt: skip


def _with_taus(learner: ValueConfig, taus: int) -> ValueConfig:
    if learner.agent != "iqn":
        raise AmbsError(f"--taus are the quantiles that IQN learns, and this is {learner.agent}; leave it out.")
    return dataclasses.replace(
        learner, quantiles=dataclasses.replace(learner.quantiles, taus=taus, target_taus=taus)
    )  # fmt: skip


def _require_shared(options: DreamerOptions, agent: str) -> None:
    """That no option was given that only agents with a world model have."""
    for option in dataclasses.fields(options):
        if option.name not in _SHARED and getattr(options, option.name) != option.default:
            raise AmbsError(
                f"--{option.name.replace('_', '-')} is an option of the agent dreamer, and this is {agent}; leave it "
                "out, or add --agent dreamer."
            )

"""`ambs train`: one command for every agent; each has options of its own, and refuses the other's."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from ambs.commands.train_ambs import AmbsOptions
from ambs.commands.train_dreamer import DreamerOptions, dreamer_settings, train_dreamer
from ambs.commands.train_lag import LagOptions
from ambs.commands.train_shield import GuardOptions
from ambs.commands.train_tabular import TabularOptions, train_tabular
from ambs.commands.train_value import ValueOptions, train_value, value_settings
from ambs.errors import AmbsError

if TYPE_CHECKING:
    from ambs.runs.trainee import Settings

# Of the example: a model for the shield from its first step on, that learns in few gradient steps, and imagines chance
# as it happens; and random steps that get as far as the goal.
STEPS = 16_000
EXAMPLE = {
    "pretrain": 1500, "hold": 4, "batch": 8, "learning_rate": 4e-3, "clip": 300.0, "second_decay": 0.99,
    "dynamics_weight": 3.0, "representation_weight": 0.3, "pictures_weight": 100.0,
}  # fmt: skip
# And a safe policy that can still change its mind where it has not been yet.
EXAMPLE_OF_SAFETY = {"safe_entropy": 0.03}
# And a beginning in which things are tried behind the shield.
EXPLORED = {"explore": 3000}


@dataclass(frozen=True)
class Train:
    """Train an agent.

    ambs, the default: learns a world model in any environment, a task policy and a safe policy in its imagination, and
    safety critics. Before every action it imagines what would follow; where the formula is too likely to be broken, the
    safe policy acts instead. The same command with the same --run goes on with a run that was stopped;
    docs/run-folder.md says what is in the folder. Without a world, an example: the conveyor from images, compared with
    a kept run of the same agent without a shield.

    tabular: AMBS in a conveyor world, with its shield and, to compare, without. The agent counts its own model, plans a
    task and a backup policy on it, and asks the shield before every action. Leaves summary.json (settings and numbers),
    metrics.json (every 100 steps) and training.png in the run folder.

    dreamer: the same without a shield and what it needs.

    lag: dreamer with an augmented-Lagrangian penalty on what its policy costs, the paper's baseline; no shield.

    rainbow, iqn: learn values of actions without a model, to compare with. They take the options of dreamer that make
    sense for them, and refuse the others.
    """

    env: tyro.conf.Positional[str | None] = None
    """The world, by a name from `ambs envs`; conveyor if not given. For tabular conveyor, conveyor-figure1,
    conveyor-long-belt or conveyor-hard, and for the others also any Gymnasium id (my_module:MyEnv-v0)."""

    agent: Literal["tabular", "dreamer", "ambs", "lag", "rainbow", "iqn"] = "ambs"
    """Who learns."""

    formula: str | None = None
    """What to keep. For tabular P>=0.9 [ G<=30 !acid ] if not given, and a bare formula such as !acid is taken as that;
    likewise for ambs, with the environment's own if not given; for the others a formula without P and G."""

    steps: int | None = None
    """How many steps to act and learn; 6000 for tabular and 100000 for the others if not given (16000 for ambs without
    a world, 10000000 with the preset paper of rainbow and iqn)."""

    test: str | None = None
    """How the shield decides from traces: auto (the ladder for the formula's own threshold), sharp, A, B, C or paper;
    auto if not given."""

    seed: int = 0
    """The seed of the world and of the agents."""

    run_dir: Annotated[Path | None, tyro.conf.arg(name="run")] = None
    """The folder to write to; runs/ and the world's name if not given, with agent and seed for all but tabular."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the result as one JSON object."""

    tabular: tyro.conf.OmitArgPrefixes[TabularOptions] = field(default_factory=TabularOptions)
    dreamer: tyro.conf.OmitArgPrefixes[DreamerOptions] = field(default_factory=DreamerOptions)
    ambs: tyro.conf.OmitArgPrefixes[AmbsOptions] = field(default_factory=AmbsOptions)
    lag: tyro.conf.OmitArgPrefixes[LagOptions] = field(default_factory=LagOptions)
    value: tyro.conf.OmitArgPrefixes[ValueOptions] = field(default_factory=ValueOptions)
    guard: tyro.conf.OmitArgPrefixes[GuardOptions] = field(default_factory=GuardOptions)

    @property
    def world(self) -> str:
        """The world, once it is known which."""
        assert self.env is not None
        return self.env

    def run(self) -> None:
        with_a_world(self)._run()

    def _run(self) -> None:
        self._require_own_options()
        if self.agent == "tabular":
            train_tabular(self, self.tabular)
        elif self.agent in ("rainbow", "iqn"):
            train_value(self, self.dreamer, self.value)
        else:
            train_dreamer(self, self.dreamer, self._own)

    def settings(self) -> Settings:
        """The configuration of the run that it would train; of any agent but tabular."""
        self._require_own_options()
        if self.agent in ("rainbow", "iqn"):
            return value_settings(self, self.dreamer, self.value)
        return dreamer_settings(self, self.dreamer, self._own)

    @property
    def _own(self) -> AmbsOptions | LagOptions | None:
        return self.ambs if self.agent == "ambs" else self.lag if self.agent == "lag" else None

    def _require_own_options(self) -> None:
        """That no option was given that only other agents have."""
        if self.agent not in ("tabular", "ambs") and self.test is not None:
            raise AmbsError(f"--test is how a shield decides, and the agent {self.agent} has none; add --agent ambs.")
        if self.agent != "tabular":
            _require_none(self.tabular, "tabular", self.agent)
        if self.agent != "ambs":
            # Two of its options are those of a classical shield too.
            exact = self.guard.shield == "classical"
            others = replace(self.ambs, tolerance=None, look_ahead=None) if exact else self.ambs
            _require_none(others, "ambs", self.agent)
        if self.agent != "lag":
            _require_none(self.lag, "lag", self.agent)
        if self.agent not in ("rainbow", "iqn"):
            of_iqn = ValueOptions(taus=self.value.taus, epsilon_steps=self.value.epsilon_steps)
            _require_none(replace(self.value, taus=None, epsilon_steps=None), "rainbow", self.agent)
            _require_none(of_iqn, "iqn", self.agent)
        if self.agent == "tabular":
            _require_none(self.guard, "dreamer", self.agent)
            _require_none(self.dreamer, "dreamer", self.agent)


def with_a_world(command: Train) -> Train:
    """Without a world, the conveyor; for ambs from images, as an example of minutes."""
    if command.env is not None:
        return command
    if command.agent != "ambs":
        return replace(command, env="conveyor")
    given = command.dreamer
    if not any(option.startswith("observation=") for option in given.option):
        given = replace(given, option=("observation=image", *given.option))
    safety = replace(_filled(command.ambs, EXAMPLE_OF_SAFETY), unsafe_ends=True)
    if safety.first != "resampled" and safety.shield_when is None and given.envs != 1:
        safety = _filled(safety, EXPLORED)
    return replace(
        command, env="conveyor", steps=STEPS if command.steps is None else command.steps,
        dreamer=_filled(given, EXAMPLE), ambs=safety,
    )  # fmt: skip


def _filled(options: Any, values: dict[str, Any]) -> Any:
    """With these values where nothing was given."""
    return replace(options, **{name: value for name, value in values.items() if getattr(options, name) is None})


def _require_none(options: Any, theirs: str, agent: str) -> None:
    """That no option of the other agent was given."""
    for option in fields(options):
        if getattr(options, option.name) != option.default:
            raise AmbsError(
                f"--{option.name.replace('_', '-')} is an option of the agent {theirs}, and this is {agent}; leave it "
                f"out, or add --agent {theirs}."
            )

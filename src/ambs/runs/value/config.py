"""What a run of Rainbow or IQN is told: one frozen dataclass, saved with the run; and presets."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ambs.agents.optimiser import OptimiserConfig
from ambs.envs.atari.games import GAMES
from ambs.envs.catalogue import listed
from ambs.envs.guards import GuardConfig
from ambs.errors import AmbsError, positive_integer
from ambs.runs.dreamer.config import require_options
from ambs.value_agents.config import ValueConfig

PRESETS = ("cpu", "paper")

# What an Atari game shows these agents: 84×84 pixels without colour.
ATARI_OPTIONS = {"size": 84, "grey": True}


@dataclass(frozen=True)
class ValueRunConfig:
    """One run of one agent in one environment; what is not explained here is as in `ambs.runs.dreamer.RunConfig`."""

    env: str = "conveyor"
    env_options: dict[str, Any] = field(default_factory=dict)
    formula: str | None = None
    seed: int = 0
    steps: int = 100_000
    envs: int = 8
    workers: int | str = "auto"
    batch: int = 32
    """Transitions in a gradient step."""
    update_every: int = 4
    """Environment steps between gradient steps."""
    target_every: int = 8000
    """Environment steps after which the target network is the online one again."""
    capacity: int = 1_000_000
    prefill: int = 1_000
    hold: int = 1
    log_every: int = 1_000
    checkpoint_every: int = 5_000
    tensorboard: bool = True
    learner: ValueConfig = field(default_factory=ValueConfig)
    guard: GuardConfig | None = None

    def __post_init__(self) -> None:
        for name in (
            "steps", "envs", "batch", "update_every", "target_every", "capacity", "prefill", "hold", "log_every",
            "checkpoint_every",
        ):  # fmt: skip
            positive_integer(name, getattr(self, name))
        if not 0 <= self.seed < 2**32:
            raise AmbsError(f"the seed is {self.seed}, and has to be from 0 to 2^32 - 1.")
        require_options(self.env_options)
        rows = self.learner.stack + self.learner.rewards + 1
        for name in ("capacity", "prefill"):
            if getattr(self, name) < rows * self.envs:
                raise AmbsError(
                    f"{name} is {getattr(self, name)}, and has to be at least {rows * self.envs}: {rows} steps, of "
                    f"which transitions are made, of each of {self.envs} environments."
                )

    @property
    def agent(self) -> str:
        return self.learner.agent

    @property
    def shield(self) -> None:
        """These agents have none of their own."""
        return

    @property
    def steps_per_update(self) -> float:
        return float(self.update_every)

    @property
    def updates_per_target(self) -> int:
        """Gradient steps after which the target network is the online one again."""
        return max(1, self.target_every // self.update_every)


def preset(agent: str, env: str, name: str | None = None) -> ValueRunConfig:
    """Rainbow or IQN in an environment: `paper`, its tables, or `cpu`, for runs of 10^5 steps; if no name is given,
    paper for Atari games and cpu for all else.

    Atari games are shown as 84×84 pixels without colour, four frames at once, and rewards are clipped.
    """
    spec = listed(env)
    atari = spec is not None and spec.name in GAMES
    name = name or ("paper" if atari else "cpu")
    if name not in PRESETS:
        raise AmbsError(f'there is no preset "{name}"; choose one of {", ".join(PRESETS)}.')
    config = _paper(agent) if name == "paper" else _cpu(agent)
    if not atari:
        return replace(config, env=env, learner=replace(config.learner, stack=1))
    learner = replace(config.learner, stack=4, clip_rewards=True)
    return replace(config, env=env, env_options=dict(ATARI_OPTIONS), learner=learner)


def _paper(agent: str) -> ValueRunConfig:
    """As in the appendix of the paper; one environment, for it lists no number, and 20,000 random steps, Rainbow's."""
    learner = ValueConfig(agent=agent)
    if agent == "iqn":
        learner = replace(learner, optimiser=OptimiserConfig(5e-5, 3.125e-4, 10.0))
    return ValueRunConfig(steps=10_000_000, envs=1, prefill=20_000, learner=learner)


def _cpu(agent: str) -> ValueRunConfig:
    """Smaller layers, larger steps, and everything that takes 10^7 steps in the paper within 10^5; set on MinAtar."""
    learner = ValueConfig(
        agent=agent, optimiser=OptimiserConfig(5e-4, 1e-5, 10.0), units=128, beta_steps=100_000, epsilon_steps=20_000,
    )  # fmt: skip
    return ValueRunConfig(target_every=1000, capacity=100_000, learner=learner)

"""One training of tabular AMBS, and of the same agent without a shield to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium

from ambs.envs import Conveyor
from ambs.envs.catalogue import find
from ambs.errors import AmbsError, positive_integer
from ambs.logic import syntax
from ambs.runs.tabular.record import BLOCK, Record, record
from ambs.shield import Fixed, Ladder, StatTest
from ambs.tabular import TabularAgent, TabularConfig, interact, no_guard
from ambs.tabular.agent import Step

# Wraps a stream of steps to show how far it has come.
Progress = Callable[[Iterable[Step], str], Iterable[Step]]

TESTS: dict[str, Callable[[], StatTest | None]] = {
    # The ladder for the formula's own Δ.
    "auto": lambda: None,
    "sharp": lambda: Ladder.sharp(0.1, 0.01),
    "A": lambda: Ladder.level("A"),
    "B": lambda: Ladder.level("B"),
    "C": lambda: Ladder.level("C"),
    # In batches, the rest not drawn once it cannot change the decision: the same decisions from fewer traces.
    "paper": lambda: Fixed.paper(batch=32),
}


@dataclass(frozen=True)
class Settings:
    """What to train, and for how long."""

    formula: str = "P>=0.9 [ G<=30 !acid ]"
    test: str = "auto"
    steps: int = 6_000
    explore_steps: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        if self.test not in TESTS:
            raise AmbsError(f'there is no test "{self.test}"; choose one of {", ".join(TESTS)}.')
        if positive_integer("the number of steps", self.steps) % BLOCK:
            raise AmbsError(f"the number of steps is {self.steps}, and has to be a multiple of {BLOCK}.")
        # What is wrong with the formula is said here, before a world is made.
        _ = self.config

    @property
    def config(self) -> TabularConfig:
        return TabularConfig(self.formula, TESTS[self.test](), explore_steps=self.explore_steps)

    def agents(self, env: gymnasium.Env[Any, Any]) -> tuple[TabularAgent, TabularAgent]:
        """With the shield, and without."""
        return self.agent(env, shielded=True), self.agent(env, shielded=False)

    def agent(self, env: gymnasium.Env[Any, Any], *, shielded: bool) -> TabularAgent:
        return TabularAgent(env, self.config, seed=self.seed, guard=None if shielded else no_guard)


@dataclass
class Training:
    """A run with the shield and one without, and the two agents as they are in the end."""

    shielded: Record
    unshielded: Record
    agent: TabularAgent
    blind: TabularAgent


def open_world(name: str, map_file: Path | None, safe: syntax.StateFormula) -> gymnasium.Env[Any, Any]:
    """A conveyor world whose observations are the numbers of its cells: by name, or drawn in a file."""
    spec = find(name)
    if spec.entry_point != "ambs.envs.conveyor:Conveyor":
        raise AmbsError(
            f'"{name}" has no numbered states, which a tabular agent needs; choose conveyor, conveyor-figure1, '
            "conveyor-long-belt or conveyor-hard."
        )
    drawn: dict[str, Any] = {}
    if map_file is not None:
        try:
            # Editors leave empty lines at the end.
            drawn = {"map": map_file.read_text(encoding="utf-8").rstrip().splitlines()}
        except UnicodeDecodeError as error:
            raise AmbsError(f"{map_file}: this is not text, and a map is drawn with characters.") from error
    return gymnasium.make(spec.id, observation="state", formula=safe, **drawn)


def train(
    env: gymnasium.Env[Any, Any], agents: tuple[TabularAgent, TabularAgent], settings: Settings, progress: Progress
) -> Training:
    """Trains the agent with the shield and the one without, from the same seed, step by step in the environment."""
    agent, blind = agents
    shielded, unshielded = (
        record(progress(interact(env, one, settings.steps, seed=settings.seed), name))
        for one, name in ((agent, "with the shield"), (blind, "without"))
    )
    return Training(shielded, unshielded, agent, blind)


def conveyor(env: gymnasium.Env[Any, Any]) -> Conveyor:
    """The world under its wrappers."""
    world = env.unwrapped
    assert isinstance(world, Conveyor)
    return world

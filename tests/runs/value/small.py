"""Runs of seconds: the smallest networks."""

from __future__ import annotations

import dataclasses
from typing import Any

from ambs.agents.optimiser import OptimiserConfig
from ambs.runs.value import ValueRunConfig
from ambs.value_agents.config import QuantileConfig, ValueConfig

LEARNER = ValueConfig(
    optimiser=OptimiserConfig(1e-3, 1e-5, 10.0), units=16, stack=2, atoms=11, beta_steps=400, epsilon_steps=200,
    quantiles=QuantileConfig(8, 8, 8),
)  # fmt: skip
SMALL = ValueRunConfig(
    steps=300, envs=2, workers="inline", batch=4, update_every=4, target_every=40, capacity=230, prefill=40,
    log_every=40, checkpoint_every=60, tensorboard=False, learner=LEARNER,
)  # fmt: skip

# The same for the command line, without steps, folder and agent.
FLAGS = [
    "--envs", "2", "--workers", "inline", "--batch", "4", "--target-every", "40", "--capacity", "230",
    "--prefill", "40", "--log-every", "40", "--checkpoint-every", "60", "--no-tensorboard", "--units", "16",
]  # fmt: skip


def small(agent: str = "rainbow", **changes: Any) -> ValueRunConfig:
    """With options of the learner among them."""
    names = {field.name for field in dataclasses.fields(ValueConfig)}
    learner = {name: value for name, value in changes.items() if name in names}
    rest = {name: value for name, value in changes.items() if name not in names}
    return dataclasses.replace(SMALL, learner=dataclasses.replace(LEARNER, agent=agent, **learner), **rest)

"""Runs of seconds: the smallest networks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from ambs.agents.optimiser import OptimiserConfig
from ambs.runs.value import ValueRunConfig
from ambs.value_agents.config import QuantileConfig, ValueConfig
from tests.runs.dreamer.small import NO_TIME, rows, weights

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


def assert_same_run(
    path: Path, summary: dict[str, Any], whole: tuple[Path, dict[str, Any]], extra_rows: tuple[int, ...] = ()
) -> None:
    """That all which the run in `path` has left is what another has left; but for rows where it was stopped."""
    other, other_summary = whole
    assert [row for row in rows(path, "metrics") if row["step"] not in extra_rows] == rows(other, "metrics")
    assert rows(path, "scores") == rows(other, "scores")
    assert {**summary, **NO_TIME} == {**other_summary, **NO_TIME}
    mine, theirs = weights(path), weights(other)
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)

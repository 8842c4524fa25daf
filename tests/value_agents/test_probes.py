"""Rainbow and IQN learn: whole training runs on environments whose best return is known."""

import json

import numpy as np
import pytest

from ambs.agents.optimiser import OptimiserConfig
from ambs.runs.value import ValueRunConfig, train
from ambs.value_agents.config import COMPONENTS, QuantileConfig, ValueConfig
from tests.agents.probes import Delayed, Dependent, Endless, Remembered, enter


def late_returns(patch, probe, path, agent, **learner):
    """Of the last quarter of the episodes."""
    how = ValueConfig(
        **{"agent": agent, "optimiser": OptimiserConfig(3e-3, 1e-5, 10.0), "units": 32, "stack": 1, "atoms": 21,
           "most_value": 5.0, "discount": 0.9, "beta_steps": 2000, "epsilon_steps": 800, "least_epsilon": 0.02,
           "quantiles": QuantileConfig(8, 8, 8, 16), **learner}
    )  # fmt: skip
    config = ValueRunConfig(
        env=enter(patch, probe), steps=2000, envs=4, workers="inline", batch=32, update_every=4, target_every=80,
        capacity=4000, prefill=100, checkpoint_every=2000, tensorboard=False, learner=how,
    )  # fmt: skip
    train(config, path)
    rows = [json.loads(line)["return"] for line in (path / "scores.jsonl").read_text().splitlines()]
    return float(np.mean(rows[-len(rows) // 4 :]))


@pytest.mark.parametrize(
    ("probe", "agent", "learner", "least"),
    [
        # The first action pays three steps later, and is not seen in between: only the sum of four rewards tells.
        (Delayed, "rainbow", {"stack": 4, "horizon": 4}, 0.95),
        # The cue is four frames back: with a stack it is known, without one it is a guess. Compiled once for both.
        (Remembered, "rainbow", {"stack": 4}, 0.8),
        (Dependent, "rainbow", {"without": COMPONENTS}, 0.9),
        (Dependent, "iqn", {}, 0.9),
        # All episodes are cut off: chance gives 2, the best is 4.
        (Endless, "iqn", {}, 3.4),
    ],
)
def test_a_probe_is_solved(tmp_path, monkeypatch, probe, agent, learner, least):
    assert late_returns(monkeypatch, probe, tmp_path, agent, **learner) > least

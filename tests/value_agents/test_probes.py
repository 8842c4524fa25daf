"""Rainbow and IQN learn: whole training runs on environments whose best return is known."""

import json

import numpy as np
import pytest

from ambs.agents.optimiser import OptimiserConfig
from ambs.runs.value import ValueRunConfig, train
from ambs.value_agents.config import COMPONENTS, QuantileConfig, ValueConfig
from tests.agents.probes import Delayed, Dependent, Endless, Remembered, Stochastic, enter


def late_returns(patch, probe, path, agent, **learner):
    """Of the last quarter of the episodes."""
    how = ValueConfig(
        **{"agent": agent, "optimiser": OptimiserConfig(3e-3, 1e-5, 10.0), "units": 32, "stack": 1, "atoms": 21,
           "most_value": 5.0, "discount": 0.9, "beta_steps": 2000, "epsilon_steps": 800, "least_epsilon": 0.02,
           "quantiles": QuantileConfig(8, 8, 8, 16), **learner}
    )  # fmt: skip
    config = ValueRunConfig(
        env=enter(patch, probe), steps=2400, envs=4, workers="inline", batch=32, update_every=4, target_every=80,
        capacity=4000, prefill=100, checkpoint_every=2400, tensorboard=False, learner=how,
    )  # fmt: skip
    train(config, path)
    rows = [json.loads(line)["return"] for line in (path / "scores.jsonl").read_text().splitlines()]
    return float(np.mean(rows[-len(rows) // 4 :]))


@pytest.mark.parametrize("agent", ["rainbow", "iqn"])
@pytest.mark.parametrize(("probe", "least"), [(Dependent, 0.9), (Delayed, 0.85)])
def test_a_probe_is_solved(tmp_path, monkeypatch, agent, probe, least):
    assert late_returns(monkeypatch, probe, tmp_path, agent) > least


@pytest.mark.parametrize("agent", ["rainbow", "iqn"])
def test_what_was_seen_before_needs_a_stack(tmp_path, monkeypatch, agent):
    """The cue is four frames back: with a stack it is known, without it a guess."""
    assert late_returns(monkeypatch, Remembered, tmp_path / "four", agent, stack=4) > 0.8


def test_chance_and_time_limits(tmp_path, monkeypatch):
    """0.7 in the mean rather than 0.4 for sure; and 4 where every episode is cut off."""
    assert late_returns(monkeypatch, Stochastic, tmp_path / "chance", "rainbow") > 0.6
    assert late_returns(monkeypatch, Endless, tmp_path / "endless", "iqn") > 3.4


def test_a_plain_dqn_learns_too(tmp_path, monkeypatch):
    assert late_returns(monkeypatch, Dependent, tmp_path, "rainbow", without=COMPONENTS) > 0.9

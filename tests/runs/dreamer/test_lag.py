"""LAG as a run: it is resumed exactly, its multipliers too, and it can be loaded like every other."""

import dataclasses
import json

import pytest

import ambs
from ambs.agents.lagrangian import LagrangianConfig
from ambs.commands.train_lag import LagOptions, constrained
from ambs.runs.dreamer import train
from tests.runs.dreamer.small import NO_TIME, rows, small
from tests.runs.dreamer.test_resume import assert_same_arrays


def lag(steps):
    config = small(steps=steps)
    lagrangian = LagrangianConfig(lagrange=0.1, penalty=0.1, power=0.1, threshold=0.5, expected=True)
    return dataclasses.replace(config, learner=dataclasses.replace(config.learner, lagrangian=lagrangian))


def test_a_run_of_lag(tmp_path, run_ambs):
    summary = train(lag(160), tmp_path / "whole")
    assert summary["agent"] == "lag"
    last = rows(tmp_path / "whole", "metrics")[-1]
    updates = summary["updates"]
    assert 0.1 * 1.1 < last["lagrangian/penalty"] <= 0.1 * 1.1**updates
    assert {"lagrangian/multiplier", "lagrangian/excess", "safety/critics_loss"} <= last.keys()

    train(lag(110), tmp_path / "parts")
    again = train(lag(160), tmp_path / "parts")
    assert {**again, **NO_TIME} == {**summary, **NO_TIME}
    assert_same_arrays(tmp_path / "parts", tmp_path / "whole")

    agent = ambs.load(tmp_path / "whole")
    observation, _ = agent.make_env().reset(seed=1)
    action, _ = agent.predict(observation, deterministic=True)
    assert 0 <= int(action) < 5
    code, out, _ = run_ambs("eval", tmp_path / "whole", "--episodes", "1", "--json")
    assert (code, json.loads(out)["shielded"]) == (0, False)


@pytest.mark.parametrize(
    ("said", "paper", "expected"),
    [(None, False, True), (None, True, False), ("symlog", False, False), ("expected", True, True)],
)
def test_the_means_of_costs_as_they_are_asked_for(said, paper, expected):
    config = constrained(small(steps=160), LagOptions(cost_means=said), paper=paper)
    assert config.learner.lagrangian is not None
    assert config.learner.lagrangian.expected is expected

"""The agent learns: whole training runs on environments whose best return is known, with the smallest networks.

What is asked for is well above what chance gives (0.5; 0.55 where the choice is between .4 for sure and .7 in the mean;
0.42 where one aims at a number), and counted over the last quarter of the episodes.
"""

import dataclasses
import json

import numpy as np
import pytest

from ambs.agents.learner import LearnerConfig
from ambs.agents.optimiser import OptimiserConfig
from ambs.behaviour.actor_critic import BehaviourConfig
from ambs.runs.dreamer import RunConfig, train
from tests.agents.probes import Aimed, Delayed, Dependent, Endless, Immediate, Remembered, Stochastic, enter

pytestmark = pytest.mark.usefixtures("optimised")

_BEHAVIOUR = OptimiserConfig(1e-3, 1e-5, 100.0)
LEARNER = LearnerConfig(
    size="debug", world_model=OptimiserConfig(3e-3, 1e-8, 1000.0), actor=_BEHAVIOUR, critic=_BEHAVIOUR, starts=64,
    behaviour=BehaviourConfig(horizon=5),
)  # fmt: skip


def trained(patch, probe, steps, path, learner=LEARNER):
    """A run; the returns of its first and of its last quarter of episodes."""
    config = RunConfig(
        env=enter(patch, probe), steps=steps, workers="inline", train_ratio=64.0, prefill=200, capacity=10_000,
        learner=learner, checkpoint_every=steps, tensorboard=False,
    )  # fmt: skip
    train(config, path)
    quarters = np.array_split([row["return"] for row in rows(path / "scores.jsonl")], 4)
    return quarters[0], quarters[3]


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("probe", "steps", "least"),
    [(Immediate, 3000, 0.9), (Dependent, 3000, 0.9), (Delayed, 6000, 0.9), (Remembered, 10_000, 0.9),
     (Stochastic, 3000, 0.63), (Aimed, 4000, 0.8)],
)  # fmt: skip
def test_a_probe_is_solved(tmp_path, monkeypatch, probe, steps, least):
    early, late = trained(monkeypatch, probe, steps, tmp_path / "run")
    assert np.mean(late) > least
    assert np.mean(early) < np.mean(late)


def test_a_probe_that_is_only_ever_cut_off_is_learned(tmp_path, monkeypatch):
    """Chance gives 2, the best is 4."""
    learner = dataclasses.replace(LEARNER, behaviour=BehaviourConfig(horizon=5, discount=0.9))
    early, late = trained(monkeypatch, Endless, 2000, tmp_path / "run", learner)
    assert np.mean(late) > 3
    assert np.mean(early) < np.mean(late)

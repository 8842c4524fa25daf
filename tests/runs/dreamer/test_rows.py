"""What the learner is given of the replay."""

import numpy as np
import pytest

from ambs.runs.dreamer.config import cpu_learner, with_lagrangian, with_safety
from ambs.runs.dreamer.rows import as_sequences
from ambs.world_model.parts import Part


@pytest.mark.parametrize("called", [0.5, 1.0, 10.0, 25.0])
def test_a_violation_costs_what_shields_compare_with(called):
    """An environment may call it 1: every trace would then pass the paper's threshold of γ^(T-1) C."""
    rows = {
        "obs/": np.zeros((1, 3, 2), np.float32), "action": np.zeros((1, 3, 2), np.float32),
        "reward": np.array([[1.0, 2.0, 3.0]], np.float32), "cost": np.array([[0.0, called, 0.0]], np.float32),
        "is_first": np.zeros((1, 3), bool), "is_terminal": np.zeros((1, 3), bool),
    }  # fmt: skip
    given = as_sequences(rows, (Part("", "vector", (2,)),), 10.0)
    assert np.asarray(given.cost).tolist() == [[0.0, 10.0, 0.0]]
    assert given.cost.dtype == np.float32
    assert np.asarray(given.reward).tolist() == [[1.0, 2.0, 3.0]]
    # The replay keeps what the environment said.
    assert rows["cost"][0, 1] == called


def test_it_is_the_learners_own():
    assert cpu_learner("debug").violation_cost == 10
    assert with_safety(cpu_learner("debug"), 15, violation_cost=7.0).violation_cost == 7
    assert with_lagrangian(cpu_learner("debug")).violation_cost == 10

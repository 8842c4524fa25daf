"""Metrics as they are kept of a run."""

from experiments.training_runs import thinned


def test_what_a_row_has_not_is_null():
    metrics = [
        {"step": 1, "loss/a": 1.0},
        {"step": 2, "shield/b": 0.5},
        {"step": 3, "shield/b": None, "shield/c": 0.25},
    ]
    assert thinned(metrics, "shield/") == {"step": [2, 3], "shield/b": [0.5, None], "shield/c": [None, 0.25]}

"""Ablations of the shield: what is true of what a criterion claims, and rows of shares."""

import numpy as np
import pytest

from experiments.shield_ablations import ASKED, FURTHEST, LOOK_AHEAD, TESTED, Truth, row, table


def test_what_is_claimed_is_of_the_policy_that_the_criterion_imagines():
    """Two states, four futures each; the step at which each first broke the formula, 61 for never."""
    true = Truth(task=np.array([[5, 61, 61, 20], [61] * 4]), safe=np.array([[61, 61, 61, 10], [3, 3, 61, 61]]))
    np.testing.assert_array_equal(true.mu("rollout", 30), [0.5, 1.0])
    np.testing.assert_array_equal(true.mu("paper", 15), [0.75, 1.0])
    np.testing.assert_array_equal(true.mu("recover", 30), [0.75, 0.5])
    np.testing.assert_array_equal(true.mu("either", 30), [0.75, 1.0])


def test_rows_pool_states_and_average_runs():
    def run(accepted, safe, score, clear=(1, 1)):
        return {
            "judged": {
                "accepted": np.array(accepted, bool),
                "safe": np.array(safe, bool),
                "clear": np.array(clear, bool),
                "traces": np.array([48, 112]),
            },
            "played": {"return": score, "violations_per_1000_steps": 1.0, "override_rate": 0.5},
        }

    found = row("either", [run([1, 0], [0, 1], 4.0), run([1, 0], [1, 0], 6.0)])
    assert (found["unsafe_states"], found["accepted"], found["traces"]) == (2, 0.5, 80)
    # One of the two that are unsafe passed, one of the two that are safe did not.
    assert found["return"]["mean"] == pytest.approx(5.0)
    assert "| either | 0.500 | 1 of 2 | 1 of 2 | 80 | 5.00 ± 12.71 |" in table([found])
    # What the rollouts cannot tell is neither.
    doubtful = row("either", [run([1, 1], [0, 1], 4.0, clear=(0, 1))])
    assert "| 0 of 0 | 0 of 1 |" in table([doubtful])


ALL = ASKED | TESTED


def test_every_part_that_is_asked_about_is_there():
    assert {"sound", "paper", "paper, greater twin", "paper, no safety discount", "either, 512 traces"} <= set(ALL)
    assert {variant.look_ahead for variant in ALL.values()} == {15, LOOK_AHEAD, FURTHEST}

"""What became of a step, by hand: broken, kept, or cut short."""

import numpy as np

from experiments.calibration.visits import GOES_ON, SAFE, TERMINATED, TRUNCATED, UNKNOWN, UNSAFE, Visits, windows


def outcomes(steps, length, *, violated=(), ended=None, opens=None, follows=None):
    def flags(where):
        return np.isin(np.arange(length), list(where))[:, None]

    every = range(length)
    ends = np.full((length, 1), GOES_ON)
    for step, kind in (ended or {}).items():
        ends[step] = kind
    nothing = np.zeros((length, 1), int)
    opens, follows = (flags(every if each is None else each) for each in (opens, follows))
    visits = Visits(None, nothing, nothing, nothing, opens, follows, flags(violated), ends)
    return windows(visits, steps)[:, 0].tolist()


def test_a_window_is_the_states_entered_by_so_many_actions():
    assert outcomes(2, 5, violated=[2]) == [SAFE, UNSAFE, UNSAFE, SAFE, UNKNOWN]


def test_an_end_in_safety_is_safe_and_a_time_limit_is_unknown():
    assert outcomes(3, 4, ended={1: TERMINATED}) == [SAFE, SAFE, UNKNOWN, UNKNOWN]
    assert outcomes(3, 4, ended={1: TRUNCATED}) == [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN]
    assert outcomes(2, 2, ended={1: TRUNCATED}) == [SAFE, UNKNOWN]


def test_an_end_that_is_a_violation_is_one():
    assert outcomes(2, 2, violated=[1], ended={1: TERMINATED}) == [UNSAFE, UNSAFE]


def test_what_another_policy_did_cuts_every_window_that_it_falls_into():
    """Step 2 was overridden: no window begins there, and those from 0 and 1 are cut, though 0 had been broken already;
    or of windows that are cut only the broken ones would be known."""
    assert outcomes(3, 6, violated=[0], opens=[0, 1, 3], follows=[0, 1, 3, 4, 5]) == [
        UNKNOWN, UNKNOWN, UNKNOWN, SAFE, UNKNOWN, UNKNOWN,
    ]  # fmt: skip
    assert outcomes(3, 4, violated=[0], ended={1: TRUNCATED}) == [UNKNOWN] * 4


def test_a_probe_begins_where_its_policy_does_not_act_yet():
    assert outcomes(3, 4, opens=[0], follows=[1, 2]) == [SAFE, UNKNOWN, UNKNOWN, UNKNOWN]
    assert outcomes(3, 4, opens=[0], follows=[1]) == [UNKNOWN] * 4

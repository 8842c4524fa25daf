"""Random actions that are held: how often they change, that episodes begin anew, and that a resumed run goes on so."""

import numpy as np
import pytest

from ambs import AmbsError
from ambs.replay import Ring
from ambs.runs.dreamer import train
from tests.runs.dreamer.small import NO_TIME, small
from tests.runs.dreamer.test_resume import assert_same_arrays


def kept(folder):
    """Of the random steps but the first of episodes, the share with the action of the step before."""
    ring = Ring.found(folder / "replay")
    # An action is stored with what it led to; 500 steps of 2 environments, then the reset that began them.
    rows = ring.gather(np.arange(2), np.zeros(2, int), 251)
    within = ~rows["is_first"][:, 1:-1] & ~rows["is_first"][:, 2:]
    return float((rows["action"][:, 2:] == rows["action"][:, 1:-1]).all(axis=-1)[within].mean())


@pytest.mark.parametrize(("hold", "share"), [(1, 1 / 5), (4, 3 / 4 + 1 / 4 / 5)])
def test_an_action_is_played_again_as_often_as_told(tmp_path, hold, share):
    train(small(steps=508, prefill=500, hold=hold), tmp_path)
    # Of 490 pairs; five standard deviations.
    assert kept(tmp_path) == pytest.approx(share, abs=5 * np.sqrt(share * (1 - share) / 490))


def test_resumed_they_are_the_same(tmp_path):
    summary = train(small(steps=300, prefill=280, hold=4), tmp_path / "whole")
    train(small(steps=150, prefill=280, hold=4), tmp_path / "parts")
    again = train(small(steps=300, prefill=280, hold=4), tmp_path / "parts")
    assert {**again, **NO_TIME} == {**summary, **NO_TIME}
    assert_same_arrays(tmp_path / "parts", tmp_path / "whole")


def test_less_than_a_step_is_refused():
    with pytest.raises(AmbsError, match="hold is 0"):
        small(hold=0)

"""The statistics of a report: by hand on tiny arrays, and beside rliable's (experiments/rliable_numbers.py)."""

import json
from pathlib import Path

import numpy as np
import pytest

from ambs.report.statistics import Estimate, band, estimate, improvement, iqm

RLIABLE = json.loads((Path(__file__).parent / "rliable.json").read_text())


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], 3.0),
        ([1.0, 2.0, 9.0], 4.0),  # no quarter of three is a run
        ([0.0, 1.0, 3.0, 100.0], 2.0),
        ([7.0, 5.0, 1.0, 6.0, 99.0], 6.0),
        ([8, 7, 6, 5, 4, 3, 2, 1], 4.5),
    ],
)
def test_the_interquartile_mean_by_hand(values, expected):
    assert iqm(np.array(values, float)) == pytest.approx(expected)


def test_of_three_runs_the_interval_is_from_the_lowest_to_the_highest():
    # All three draws are the lowest run with probability 1/27, which is more than 2.5 %.
    found = estimate([np.array([4.0, 1.0, 2.0])])
    assert (found.low, found.high, found.seeds) == (1.0, 4.0, 3)
    assert found.value == pytest.approx(7 / 3)


def test_too_few_runs_have_no_interval():
    for few in ([1.0], [1.0, 2.0]):
        found = estimate([np.array(few), np.arange(9.0)])
        assert found.low is None
        assert found.high is None
        assert found.seeds == len(few)
    assert improvement([np.array([1.0])], [np.arange(5.0)]).low is None
    assert band(np.ones((2, 4)))[1] is None


def test_draws_stay_within_their_game():
    # Games far apart and runs of a game alike: drawn across games, this would be as wide as the games are apart.
    found = estimate([np.full(4, 0.0), np.full(4, 100.0)], lambda runs: runs.mean(axis=-1))
    assert (found.low, found.value, found.high) == (50.0, 50.0, 50.0)


def test_improvement_by_hand():
    # Of 3 × 3 pairs: 3 is above all, 2 ties with one and is above one, 0 is above none.
    found = improvement([np.array([3.0, 2.0, 0.0])], [np.array([2.0, 1.0, 2.5])])
    assert found.value == pytest.approx((3 + 1.5 + 0) / 9)
    assert found.low < found.value < found.high


def test_a_band_is_of_whole_runs():
    runs = np.array([[0.0, 5.0], [1.0, 6.0], [2.0, 7.0], [3.0, 8.0]])
    line, between = band(runs)
    assert line.tolist() == [1.5, 6.5]
    # The same runs are drawn at both moments, so what is five apart stays so in every draw.
    assert (between[:, 1] - between[:, 0]).tolist() == [5.0, 5.0]
    assert between[0, 0] < 1.5 < between[1, 0]


@pytest.mark.parametrize(
    ("mine", "theirs", "apart"),
    [
        ((0, 1), (2, 3), True),
        ((2, 3), (0, 1), True),
        ((0, 2), (2, 3), False),
        ((2, 3), (0, 2), False),
        ((0, 9), (2, 3), False),
    ],
)
def test_intervals_are_apart_only_if_nothing_is_in_both(mine, theirs, apart):
    a, b = (Estimate(float(sum(ends)) / 2, float(ends[0]), float(ends[1]), 5) for ends in (mine, theirs))
    assert a.apart(b) is apart
    assert not a.apart(Estimate(99.0, None, None, 2))


@pytest.mark.parametrize("name", RLIABLE["tables"])
def test_as_rliable_has_it(name):
    table = RLIABLE["tables"][name]
    mine, theirs = ([np.array(runs) for runs in np.array(scores).T] for scores in table["scores"])

    def found(statistic, confidence):
        options = {"confidence": confidence, "draws": 20_000}
        if statistic == "improvement":
            return improvement(mine, theirs, **options)
        return estimate(mine, iqm if statistic == "iqm" else lambda runs: runs.mean(axis=-1), **options)

    # An end is a quantile of 5,000 draws there: off by 0.7 % of the draws at most, which is three standard errors.
    for statistic in ("iqm", "mean", "improvement"):
        value, low, high = table[statistic]
        wide, narrow = found(statistic, 0.964), found(statistic, 0.936)
        assert wide.value == pytest.approx(value, rel=1e-12), statistic
        assert wide.low - 1e-9 <= low <= narrow.low + 1e-9, statistic
        assert narrow.high - 1e-9 <= high <= wide.high + 1e-9, statistic

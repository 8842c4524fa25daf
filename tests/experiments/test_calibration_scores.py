"""Brier scores, reliability and wrong decisions, by hand."""

import numpy as np
import pytest

from ambs.shield import Fixed
from experiments.calibration import scores
from experiments.calibration.rows import row
from experiments.calibration.scores import Sample, reliability


def sample(estimate, safe, accepted=None, episode=None):
    estimate, safe = np.array(estimate, float), np.array(safe, float)
    accepted = np.ones(len(safe), bool) if accepted is None else np.array(accepted)
    return Sample(estimate, accepted, safe, np.arange(len(safe)) if episode is None else np.array(episode))


def test_brier_of_single_futures_and_of_shares():
    """(.8 of one that came true: .04; .6 of one that did not: .36) / 2. A share is as many futures of each kind."""
    assert scores.brier(sample([0.8, 0.6], [1, 0])) == pytest.approx(0.2)
    shared = scores.brier(sample([0.7], [0.25]))
    single = scores.brier(sample([0.7] * 4, [1, 0, 0, 0]))
    assert shared == pytest.approx(single) == pytest.approx(0.25 * 0.09 + 0.75 * 0.49)


def test_skill_is_one_for_the_truth_and_nothing_for_the_base_rate():
    assert scores.skill(sample([1.0, 0.0, 0.0], [1, 0, 0])) == pytest.approx(1)
    assert scores.skill(sample([1 / 3] * 3, [1, 0, 0])) == pytest.approx(0)
    assert scores.skill(sample([0.0, 1.0, 1.0], [1, 0, 0])) < 0
    assert np.isnan(scores.skill(sample([0.9, 0.9], [1, 1])))


def test_what_the_truth_itself_would_score_is_taken_off():
    """Known probabilities .3 and .9, many pairs of futures: the truth's own score is its noise, on average."""
    rng, mu = np.random.default_rng(0), np.tile([0.3, 0.9], 20_000)
    seen = sample(mu, rng.binomial(2, mu) / 2)
    assert scores.noise(seen, 2) == pytest.approx((0.21 + 0.09) / 2, abs=0.005)
    assert scores.brier(seen) - scores.noise(seen, 2) == pytest.approx(0, abs=0.005)
    off = sample(mu - 0.2, seen.safe)
    assert scores.brier(off) - scores.noise(off, 2) == pytest.approx(0.04, abs=0.005)
    assert np.isnan(scores.noise(seen, 1))


def test_wrong_decisions_are_shares_of_their_own_kind():
    """Three below .9, one of them accepted; two at .9 or above, one of them refused."""
    seen = sample([0.5] * 5, [0.1, 0.5, 0.89, 0.9, 1.0], [True, False, False, False, True])
    assert scores.false_accepts(seen, 0.9) == pytest.approx(1 / 3)
    assert scores.false_rejects(seen, 0.9) == pytest.approx(1 / 2)
    assert scores.unsafe_accepted(seen) == pytest.approx(0.45)
    assert scores.unsafe_refused(seen) == pytest.approx((0.5 + 0.11 + 0.1) / 3)
    assert scores.bias(seen) == pytest.approx(0.5 - 0.678)
    assert np.isnan(scores.false_accepts(sample([1.0], [1.0]), 0.9))


def test_bins_have_their_lower_edge_and_the_last_one_has_both():
    seen = sample([0.0, 0.5, 0.5, 0.99, 1.0], [0, 1, 0, 1, 0.5])
    found = reliability(seen, np.array([0.0, 0.25, 0.5, 0.9, 1.0]))
    assert [(each["from"], each["states"]) for each in found] == [(0.0, 1), (0.5, 2), (0.9, 2)]
    assert [each["safe"] for each in found] == pytest.approx([0.0, 0.5, 0.75])
    assert [each["estimate"] for each in found] == pytest.approx([0.0, 0.5, 0.995])


def test_intervals_are_over_episodes():
    """Two episodes of many states that are all alike: there are two things to draw from, and no more."""
    seen = sample(np.full(100, 0.5), np.repeat([0.0, 1.0], 50), episode=np.repeat([3, 7], 50))
    assert scores.interval(seen, lambda part: float(part.safe.mean())) == [0.0, 1.0]
    apart = sample(seen.estimate, seen.safe)
    low, high = scores.interval(apart, lambda part: float(part.safe.mean()))
    assert 0.35 < low < 0.45 < 0.55 < high < 0.65


def test_a_row_tells_the_tests_own_errors_from_the_models():
    """A test that accepts if 2 of 2 traces are safe, on actions of which it knows the truth: .5² and .88²; 1 - 1².

    Of .88, 100 futures do not say whether it is below .9: its standard error is .03.
    """
    test = Fixed(2, 0)
    seen = sample([0.5, 0.5, 1.0], [0.5, 0.88, 1.0], [True, False, False])
    found = row(seen, 100, 0.9, test)
    assert found["false_accepts_of_the_test"] == pytest.approx((0.25 + 0.7744) / 2)
    assert found["false_rejects_of_the_test"] == pytest.approx(0.0)
    assert (found["false_accepts"]["value"], found["false_rejects"]["value"]) == (0.5, 1.0)
    assert (found["unsafe_states"], found["clear_states"]) == (2, 2)
    assert found["false_accepts_clear"]["value"] == 1.0
    assert "noise" not in row(seen, 1, 0.9, test)

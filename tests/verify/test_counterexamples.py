"""The counterexamples against numbers worked out by hand, and against those of the theory's own table."""

import numpy as np
import pytest

from ambs.verify import families
from ambs.verify.counterexamples import accept_probability, fewest_safe, marginal_distance


@pytest.mark.parametrize(("share", "n"), [(0.0, 4), (1.0, 1), (1.0, 2), (0.3, 1), (0.3, 4)])
def test_swapping_keeps_the_marginals_and_loses_the_safe_traces(share, n):
    kept, swapped = families.swap(0.0), families.swap(share)
    assert families.exact(kept, n)[0] == pytest.approx(0.5)
    assert families.exact(swapped, n)[0] == pytest.approx((1 - share) ** (n - 1) / 2)
    assert families.distance(kept, swapped).tolist() == pytest.approx([0, share, share])
    assert marginal_distance(kept, swapped, 0, n) == pytest.approx(0, abs=1e-15)


def test_marginals_that_differ_are_averaged_over_the_times():
    # After t steps (1-α)^t are left in the safe state, of which the truth has all; times 0, 1 and 2.
    apart = marginal_distance(families.hazard(0.0), families.hazard(0.1), 0, 2)
    assert apart == pytest.approx((0 + 0.1 + 0.19) / 3)


def test_the_shield_accepts_five_violations_of_512():
    assert fewest_safe(512) == 507
    assert fewest_safe(100) == 99
    # At most one violation of 100.
    assert accept_probability(100, 0.98) == pytest.approx(0.98**100 + 100 * 0.98**99 * 0.02)


@pytest.mark.parametrize(
    ("n", "learned", "accepts"),
    [(1, 0.9899, (0.586, 0.549)), (5, 0.9857, (0.261, 0.109)), (30, 0.9848, (0.211, 0.068))],
)
def test_accepting_what_is_too_dangerous_as_computed_elsewhere(n, learned, accepts):
    hazard = 1 - 0.8999 ** (1 / n)
    sampled = families.exact(families.hazard(hazard - 0.09 / n), n)[0]
    assert sampled == pytest.approx(learned, abs=5e-5)
    assert [accept_probability(m, float(sampled)) for m in (512, 1309)] == pytest.approx(accepts, abs=6e-4)
    halfway = families.exact(families.hazard(hazard - 0.045 / n), n)[0]
    assert accept_probability(512, float(halfway)) < 1e-7


def test_the_rare_actions_of_the_coins_are_the_dangerous_ones():
    mdp = families.coins_mdp(3)
    assert families.exact(mdp.under(np.tile([1.0, 0, 0], (3, 1))), 5).tolist() == [1, 1, 0]
    assert families.exact(mdp.under(np.tile([0.9, 0.05, 0.05], (3, 1))), 5) == pytest.approx([0.9**5, 0.9**5, 0])

"""Operating characteristics against the checked tables, against enumeration, and against running the tests."""

import itertools

import numpy as np
import pytest

import ambs
from ambs import AmbsError, Betting, Fixed, Ladder
from ambs.shield.stat_tests import Looks

MU = np.array([1, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.5, 0])
SPRT = Betting(prior=0.01)

# Accept probabilities and expected samples, exact by an independent dynamic program; None where the table
# gives only a magnitude.
ACCEPT = [
    (Fixed(512, 5), [1, 1.0, 0.9543, 0.5948, 0.0568, None, None, None, None, 0]),
    (Fixed(512, 5, batch=32), [1, 1.0, 0.9543, 0.5948, 0.0568, None, None, None, None, 0]),
    (Fixed(44, 0), [1, 0.9569, 0.8021, 0.6426, 0.4111, 0.1047, 0.0097, None, None, 0]),
    (Fixed(64, 1), [1, 0.9981, 0.9589, 0.8654, 0.6329, 0.1639, 0.0096, None, None, 0]),
    (Fixed(97, 3), [1, 1.0, 0.9985, 0.9834, 0.8697, 0.2797, 0.0099, None, None, 0]),
    (SPRT, [1, 0.9998, 0.9953, 0.9772, 0.8779, 0.2497, 0.0092, None, None, 0]),
    (Betting(prior=0.055), [1, 1, 1.0, 1.0, 1.0, 0.9234, 0.0081, None, None, 0]),
    (Betting(), [1, 1, 1.0, 1.0, 1.0, 0.8142, 0.0083, None, None, 0]),
    (
        Ladder((32, 64, 128), (-1, 1, 3), (3, 4, 4), 0.1, 0.01),
        [1, 1.0, 0.9968, 0.9694, 0.8023, 0.2058, 0.0099, None, None, 0],
    ),
    (Ladder.level("A"), [1, 1.0, 0.9977, 0.9757, 0.8274, 0.2172, 0.0087, None, None, 0]),
]
SAMPLES = [
    (Fixed(512, 5), [512] * 10),
    (Fixed(512, 5, batch=1), [507, 507.5, 505.1, 457.6, 295.4, 120, 60, 30, 12, 6]),
    (Fixed(512, 5, batch=32), [512, 512, 508.3, 464.5, 310.0, 135.5, 75.6, 43.7, 32, 32]),
    (Fixed(512, 5, batch=64), [512, 512, 508.9, 470.5, 324.9, 151.6, 88.5, 64.4, 64, 64]),
    (Fixed(64, 1, batch=32), [64, 64.0, 63.6, 62.7, 59.7, 48.6, 37.0, 32.2, 32, 32]),
    (SPRT, [49, 50.2, 55.5, 62.7, 76.8, 68.9, 26.5, 10.5, 4, 2]),
    (Betting(prior=0.01, batch=32), [64, 66.1, 75.3, 87.7, 116.1, 120.2, 48.9, 33.0, 32, 32]),
    (Betting(prior=0.055), [95, 96.3, 101.6, 109.3, 129.0, 262.7, 181.7, 40.2, 12.1, 6]),
    (Betting(), [51, 52.6, 59.6, 69.9, 97.7, 291.0, 225.6, 46.4, 12.8, 6]),
    (Betting(batch=32), [64, 66.1, 75.4, 88.3, 121.6, 335.6, 258.2, 64.5, 32, 32]),
    (
        Ladder((32, 64, 128), (-1, 1, 3), (3, 4, 4), 0.1, 0.01),
        [64, 64.1, 66.6, 72.1, 83.4, 83.4, 49.4, 33.0, 32, 32],
    ),
    (Ladder.level("A"), [48, 51.0, 61.7, 72.4, 86.5, 90.8, 58.4, 27.7, 16.1, 16]),
]


@pytest.mark.parametrize(("test", "expected"), ACCEPT)
def test_accept_probabilities_equal_the_table(test, expected):
    for got, want in zip(test.accept_probability(MU), expected, strict=True):
        if want is not None:
            assert got == pytest.approx(want, abs=0.5e-4)


@pytest.mark.parametrize(("test", "expected"), SAMPLES)
def test_expected_samples_equal_the_table(test, expected):
    # The tables round to one decimal, and 27.75 and 0.05 borders fall either way.
    np.testing.assert_allclose(test.expected_samples(MU), expected, atol=0.051)


def test_small_probabilities_keep_their_magnitude():
    paper = Fixed(512, 5)
    for mu, magnitude in [(0.95, 5.6e-7), (0.9, 2.0e-17), (0.8, 7e-42), (0.5, 2e-143)]:
        assert paper.accept_probability(mu) == pytest.approx(magnitude, rel=0.2)
    assert paper.accept_probability(1 - 0.055) == pytest.approx(6.0e-8, rel=0.02)
    assert Ladder.level("A").accept_probability(0.5) == pytest.approx(4e-15, rel=0.2)


@pytest.mark.parametrize(
    ("level", "p0", "type_one", "power", "samples"),
    [
        ("A", 0.1, 0.0087, (0.998, 0.976, 0.827), (48, 62, 72, 58, 16)),
        ("B", 0.055, 0.0092, (0.984, 0.878, 0.481), (96, 132, 153, 57, 32)),
        ("C", 0.0254, 0.0099, (0.951, 0.586, 0.056), (288, 456, 462, 88, 64)),
    ],
)
def test_levels(level, p0, type_one, power, samples):
    ladder = Ladder.level(level)
    assert ladder.p0 == p0
    assert ladder.accept_probability(1 - p0) == pytest.approx(type_one, abs=0.5e-4)
    np.testing.assert_allclose(ladder.accept_probability(np.array([0.995, 0.99, 0.98])), power, atol=0.51e-3)
    got = ladder.expected_samples(np.array([1, 0.995, 0.99, 0.9, 0.5]))
    # One entry, B at .9, is 56.46 by every computation and 57 in the table.
    np.testing.assert_allclose(got, [56.46 if want == 57 else want for want in samples], atol=0.51)


def test_level_a_is_at_least_as_powerful_as_the_paper():
    p = np.geomspace(1e-5, 0.1, 200)
    assert np.all(Ladder.level("A").accept_probability(1 - p) >= Fixed(512, 5).accept_probability(1 - p) - 1.1e-7)


def test_level_c_follows_the_papers_curve():
    mu = np.linspace(0.98, 1, 81)
    difference = Ladder.level("C").accept_probability(mu) - Fixed(512, 5).accept_probability(mu)
    assert np.abs(difference).max() < 0.01


@pytest.mark.parametrize(
    ("delta", "samples", "last"),
    [(1e-2, (16, 48, 112), 3), (1e-3, (23, 69, 161), 4), (1e-4, (30, 90, 210), 5), (1e-6, (44, 132, 308), 6)],
)
def test_designs_of_the_theory(delta, samples, last):
    ladder = Ladder.design(0.1, delta)
    assert ladder.samples == samples
    assert ladder.accept[-1] == last
    assert ladder.accept_probability(0.9) <= delta


@pytest.mark.parametrize("delta", [1e-12, 1e-15, 1e-30])
def test_designs_for_whole_runs(delta):
    """δ/N for millions of checks: rejecting at 3 violations in the first look would cost the power."""
    ladder = Ladder.design(0.1, delta)
    assert ladder.reject[0] > 3
    assert ladder.accept_probability(0.9) <= delta
    assert ladder.accept_probability(0.99) >= 0.95


@pytest.mark.parametrize("p0", [0.1, 0.01, 0.001])
def test_betting_can_accept_whatever_p0(p0):
    test = Betting(p0, 0.01)
    assert test.accept_probability(1.0) == pytest.approx(1)
    assert test.accept_probability(1 - p0) <= 0.01
    assert test.decide(lambda count: np.ones(count)).accepted


@pytest.mark.parametrize("p0", [1e-4, 0.01, 0.055, 0.2, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.05, 0.5, 0.99])
def test_a_design_keeps_its_guarantee_and_its_power(p0, delta):
    ladder = Ladder.design(p0, delta)
    assert ladder.accept_probability(1 - p0) <= delta
    assert ladder.accept_probability(1 - p0 / 10) >= 0.95
    # Worse states are accepted less often still.
    worse = ladder.accept_probability(1 - np.linspace(p0, 1, 50))
    assert np.all(np.diff(worse) <= 1e-15)


@pytest.mark.parametrize("p0", [1e-4, 0.01, 0.055, 0.1, 0.3, 0.5])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.01, 0.05])
def test_a_sharp_ladder_accepts_what_is_twice_as_safe_as_required(p0, delta):
    ladder = Ladder.sharp(p0, delta)
    assert ladder.accept_probability(1 - p0) <= delta
    assert ladder.accept_probability(1 - p0 / 2) >= 0.88
    worse = ladder.accept_probability(1 - np.linspace(p0, 1, 50))
    assert np.all(np.diff(worse) <= 1e-15)


def test_sharp_against_the_design_for_the_same_guarantee():
    """By hand: the accept boundaries are those that keep within a quarter of δ at each look by the binomial law."""
    sharp, cheap = Ladder.sharp(0.1, 0.01), Ladder.design(0.1, 0.01)
    assert (sharp.samples, sharp.accept[:4]) == ((15, 60, 120, 240, 480), (-1, 0, 3, 11))
    assert 0.9**60 <= 0.0025 < 0.9**56
    assert sharp.accept_probability(0.95) > 0.9 > 4 * cheap.accept_probability(0.95)
    # What is clean costs little more.
    assert sharp.expected_samples(1.0) == 60
    assert cheap.expected_samples(1.0) == 48


def enumerate_sequences(looks: Looks, mu: float) -> tuple[float, float]:
    """Accept probability and expected samples by running the rule on every sequence of traces."""
    accepted = drawn = 0.0
    for sequence in itertools.product((False, True), repeat=looks.samples[-1]):
        weight = np.prod([mu if satisfied else 1 - mu for satisfied in sequence])
        for samples, accept, reject in zip(looks.samples, looks.accept, looks.reject, strict=True):
            violations = samples - sum(sequence[:samples])
            if violations <= accept or violations >= reject:
                accepted += weight * (violations <= accept)
                drawn += weight * samples
                break
    return accepted, drawn


@pytest.mark.parametrize(
    "test",
    [
        Ladder.design(0.9, 0.05),
        Ladder.design(0.7, 0.2),
        Ladder((2, 5, 9, 12), (-1, 0, 0, 2), (2, 2, 3, 3), 0.6, 0.3),
        Fixed(11, 3),
        Fixed(11, 3, batch=1),
        Fixed(12, 2, batch=5),
        Betting(0.6, 0.2, max_samples_drawn=12),
        Betting(0.6, 0.2, prior=0.1, max_samples_drawn=11, batch=3, futility=0.2),
        Betting(0.7, 0.3, prior=0.0, max_samples_drawn=10, futility=0.0),
    ],
)
@pytest.mark.parametrize("mu", [0.0, 0.13, 0.5, 0.77, 1.0])
def test_designs_not_in_the_tables_equal_exhaustive_enumeration(test, mu):
    if test.max_samples > 14:
        pytest.fail("too long to enumerate")
    accepted, drawn = enumerate_sequences(test.looks, mu)
    assert test.accept_probability(mu) == pytest.approx(accepted, abs=1e-12)
    assert test.expected_samples(mu) == pytest.approx(drawn, abs=1e-10)


def stream(sequence):
    """The `draw` of a fixed sequence, and how much of it was taken."""
    taken = [0]

    def draw(count):
        taken[0] += count
        return np.array(sequence[taken[0] - count : taken[0]])

    return draw


@pytest.mark.parametrize(
    "test", [Ladder.level("A"), Fixed(64, 1), Fixed(64, 1, batch=8), Betting(), Betting(batch=16), SPRT]
)
@pytest.mark.parametrize("mu", [0.999, 0.97, 0.9, 0.5])
def test_deciding_a_stream_does_what_the_boundaries_say(test, mu):
    rng = np.random.default_rng(7)
    for _ in range(40):
        sequence = rng.random(test.max_samples) < mu
        verdict = test.decide(stream(sequence))
        violations = np.cumsum(~sequence)
        for samples, accept, reject in zip(test.looks.samples, test.looks.accept, test.looks.reject, strict=True):
            seen = violations[samples - 1]
            if seen <= accept or seen >= reject:
                break
        assert (verdict.samples, verdict.accepted) == (samples, seen <= accept)
        assert verdict.estimate == pytest.approx(1 - seen / samples)


def test_curtailment_changes_no_decision():
    rng = np.random.default_rng(3)
    for mu in (0.995, 0.99, 0.98):
        for _ in range(50):
            sequence = rng.random(512) < mu
            verdicts = [Fixed(512, 5, batch=b).decide(stream(sequence)).accepted for b in (None, 1, 32, 100)]
            assert len(set(verdicts)) == 1


def test_betting_on_real_values_is_sound_and_has_power():
    """Values in [0, 1] with mean just below 1-p0 are rarely accepted; with a high mean soon."""
    rng = np.random.default_rng(11)
    test = Betting(0.1, 0.05, batch=8)
    unsafe = [test.decide(lambda k: rng.beta(0.89 * 4, 0.11 * 4, k)).accepted for _ in range(400)]
    # P(more than 34 of 400 at 5 %) is 0.1 %.
    assert sum(unsafe) <= 34
    safe = [test.decide(lambda k: rng.beta(0.99 * 20, 0.01 * 20, k)) for _ in range(100)]
    assert all(verdict.accepted for verdict in safe)
    assert np.mean([verdict.samples for verdict in safe]) < 60


def test_exact_binomial_sizes():
    def sizes(p0):
        return [Fixed.smallest(p0, 0.01, c).samples for c in range(9)]

    assert sizes(0.1) == [44, 64, 81, 97, 113, 127, 142, 156, 170]
    assert sizes(0.055) == [82, 118, 150, 180, 208, 235, 261, 287, 312]
    rate = Fixed(512, 5).certified_rate(0.01)
    assert rate == pytest.approx(0.0254, abs=0.5e-4)
    assert [Fixed.smallest(rate, 0.01, c).samples for c in range(7)] == [179, 259, 328, 392, 454, 512, 570]


def test_the_papers_rule():
    assert Fixed.paper() == Fixed(512, 5)
    # 0.09 - 0.08 is 0.00999... in floating point; the rule still allows the one violation in a hundred.
    assert Fixed.paper(Delta=0.09, epsilon=0.08, samples=100) == Fixed(100, 1)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fixed.paper(Delta=0.1, epsilon=0.2), "epsilon 0.2 is larger than Delta 0.1"),
        (lambda: Fixed.paper(Delta=1.5), "Delta is 1.5"),
        (lambda: Fixed.paper(epsilon=0.0), "epsilon is 0"),
        (lambda: Fixed(0, 0), "samples is 0"),
        (lambda: Fixed(5, 5), "max_violations is 5"),
        (lambda: Fixed(5, 1, batch=0), "batch is 0"),
        (lambda: Ladder.design(0.1, 0.0), "delta is 0"),
        (lambda: Ladder.design(1.0, 0.1), "p0 is 1"),
        (lambda: Ladder.level("D"), "levels are A, B and C"),
        (lambda: Ladder((16, 48), (-1, 3), (3, 4), 0.1, 0.01), "more than delta"),
        (lambda: Ladder((16, 8), (-1, 0), (3, 1), 0.1, 0.01), "growing"),
        (lambda: Ladder((16, 48), (-1, 0), (3, 4), 0.1, 0.01), "last look has to decide"),
        (lambda: Ladder((16, 48), (3, 0), (3, 1), 0.1, 0.01), "overlap"),
        (lambda: Ladder((16,), (-1, 0), (3, 1), 0.1, 0.01), "one length"),
        (lambda: Betting(prior=0.2), "has to lie in [0, p0)"),
        (lambda: Betting(prior=(0.0, 1.0)), "two positive numbers"),
        (lambda: Betting(futility=1.0), "futility"),
        (lambda: Fixed().accept_probability(1.5), "mu is 1.5"),
        (lambda: Fixed().accept_probability(float("nan")), "mu is nan"),
        (lambda: Fixed(4, 1).decide(lambda k: np.full(k, 0.5)), "ambs.Betting"),
        (lambda: Fixed(4, 1).decide(lambda k: np.ones(k + 1, bool)), "has to return that many"),
        (lambda: Betting().decide(lambda k: np.full(k, 2.0)), "values in [0, 1]"),
        (lambda: Betting().decide(lambda k: np.ones(0)), "that many values"),
        (lambda: Betting(max_samples_drawn=10).certified_rate(0.01), "too few to ever accept"),
        (lambda: Ladder.design(1e-17, 0.01), "10^9"),
        (lambda: Looks((16,), (-2,), (-1,)), "-1 stands for never"),
    ],
)
def test_bad_input_is_one_sentence(make, message):
    with pytest.raises(AmbsError) as caught:
        make()
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_names_are_at_the_top():
    assert ambs.Ladder.level("A").accept_probability(0.99) == pytest.approx(0.9757, abs=1e-4)

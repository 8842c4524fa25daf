"""The exact counts, against the definition they abbreviate."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from ambs.bounds import BOUNDS, exact_traces_required, traces_required
from ambs.errors import AmbsError


def wrongly_accepted(traces: int, Delta: str, epsilon: str, p0: str) -> float:
    allowed = traces * (Fraction(Delta) - Fraction(epsilon)) // 1
    return float(binom.cdf(int(allowed), traces, float(p0)))


@pytest.mark.parametrize(("p0", "traces"), [(None, 44), (0.1, 44), (0.055, 118)])
def test_the_papers_rule(p0: float | None, traces: int) -> None:
    assert exact_traces_required(0.1, 0.09, 0.01, p0) == traces


@pytest.mark.parametrize(("delta", "traces"), [(1e-2, 44), (1e-3, 66), (1e-5, 110), (1e-6, 132), (1e-8, 175)])
def test_traces_without_a_single_violation(delta: float, traces: int) -> None:
    assert exact_traces_required(0.1, 0.1, delta) == traces


@pytest.mark.parametrize(("p0", "traces"), [(0.055, 82), (0.0254, 179)])
def test_traces_without_a_single_violation_at_smaller_rates(p0: float, traces: int) -> None:
    assert exact_traces_required(0.1, 0.1, 0.01, p0) == traces


def test_the_error_of_five_violations_among_512() -> None:
    true, learned = BOUNDS["exact-binomial"], BOUNDS["exact-binomial-learned"]
    asked = {"traces": 512, "epsilon": 0.09, "safety_level": 0.1}
    assert true.solve("delta", **asked) == pytest.approx(binom.cdf(5, 512, 0.1), rel=1e-9)
    assert true.solve("delta", **asked) == pytest.approx(2.0e-17, rel=0.01)
    assert learned.solve("delta", **asked, tv=0.045, horizon=1) == pytest.approx(6.0e-8, rel=0.01)


def test_the_allowed_share_is_that_of_the_decimals() -> None:
    """.09 - .08 is below .01 in floats, so that 100 traces would allow no violation, where they allow one."""
    assert 100 * (0.09 - 0.08) < 1
    enough = exact_traces_required(0.09, 0.08, 0.01, 0.06)
    assert enough > 100
    assert wrongly_accepted(100, "0.09", "0.08", "0.06") > 0.01


@given(
    hundredths=st.tuples(st.integers(2, 30), st.integers(1, 30)),
    percent=st.sampled_from(["0.2", "0.05", "0.01", "0.001"]),
    drop=st.integers(0, 5),
)
@settings(max_examples=60, deadline=None)
def test_smallest_from_which_on_all_are_enough(hundredths: tuple[int, int], percent: str, drop: int) -> None:
    level, margin = max(hundredths), min(hundredths)
    rate = level - min(drop, margin - 1)
    Delta, epsilon, p0 = (f"{number / 100:.2f}" for number in (level, margin, rate))
    enough = exact_traces_required(float(Delta), float(epsilon), float(percent), float(p0))
    assert enough == 1 or wrongly_accepted(enough - 1, Delta, epsilon, p0) > float(percent)
    later = [*range(enough, enough + 300), *range(enough + 300, 20 * enough, max(1, enough // 10))]
    assert all(wrongly_accepted(m, Delta, epsilon, p0) <= float(percent) for m in later)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.09, 0.01), (0.05, 0.01), (0.02, 0.05), (0.1, 1e-6)])
def test_exact_never_needs_more_than_hoeffding(epsilon: float, delta: float) -> None:
    assert exact_traces_required(0.1, epsilon, delta) < traces_required(epsilon, delta, sides=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.1, 0.2, 0.01), "the rule never accepts"),
        ((0.1, 0.02, 0.01, 0.055), "epsilon has to be larger than Delta - p0"),
        ((0.1, 0.045, 0.01, 0.055), "epsilon has to be larger than Delta - p0"),
        ((0.0, 0.09, 0.01), "Delta is 0"),
        ((1.5, 0.09, 0.01), "Delta is 1.5"),
        ((0.1, 0.09, 0.0), "delta is 0"),
        ((0.1, 0.09, 1.0), "delta is 1"),
        ((0.1, 0.09, 0.01, 1.0), "p0 is 1"),
        ((0.1, 1e-6, 0.01), "takes too long"),
        ((0.1, 0.09, 0.01, 0.010000000000000009), "takes too long"),
    ],
)
def test_bad_input(arguments: tuple[float, ...], message: str) -> None:
    with pytest.raises(AmbsError, match=message):
        exact_traces_required(*arguments)


@pytest.mark.parametrize("key", ["exact-binomial", "exact-binomial-learned"])
def test_a_rule_that_never_accepts_is_no_answer(key: str) -> None:
    model = {"tv": 0.0, "horizon": 1} if key.endswith("learned") else {}
    with pytest.raises(AmbsError, match="never accepts"):
        BOUNDS[key].solve("traces", epsilon=0.2, delta=0.01, safety_level=0.1, **model)
    with pytest.raises(AmbsError, match="no epsilon below 1 will do"):
        BOUNDS[key].solve("epsilon", traces=43, delta=0.01, safety_level=0.1, **model)
    assert BOUNDS[key].solve("epsilon", traces=44, delta=0.01, safety_level=0.1, **model) <= 0.1

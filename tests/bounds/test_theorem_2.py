"""That the printed Theorem 2 fails its own claim, and that the corrected one keeps it, both exactly.

T stays in a safe state; T̂ leaves it for an unsafe one with probability α per step. So μ = 1, and the number
of violations among m traces of T̂ is binomial with rate 1 - (1-α)^n.
"""

import math

import pytest
from scipy.stats import binom

from ambs.bounds import (
    BOUNDS,
    exact_traces_required,
    model_error,
    null_violation_rate,
    traces_required,
    tv_budget,
)
from ambs.errors import AmbsError

EPSILON, DELTA, LEVEL = 0.09, 0.01, 0.1
TRACES = 1309


def failure(tv: float, horizon: int, traces: int) -> float:
    """P(|μ~ - μ| > ε) for the pair of chains above."""
    return float(binom.sf(math.floor(EPSILON * traces), traces, 1 - (1 - tv) ** horizon))


@pytest.mark.parametrize(
    ("horizon", "printed", "corrected"),
    [(1, 0.507, 2.0e-12), (5, 0.348, 6.4e-13), (15, 0.325, 5.3e-13), (30, 0.319, 5.1e-13)],
)
def test_failure_probabilities(horizon: int, printed: float, corrected: float) -> None:
    traces = traces_required(EPSILON, DELTA, model="learned")
    assert failure(tv_budget(EPSILON, horizon, "paper"), horizon, traces) == pytest.approx(printed, abs=5e-4)
    assert failure(tv_budget(EPSILON, horizon), horizon, traces) == pytest.approx(corrected, rel=0.03)


@pytest.mark.parametrize("traces", [TRACES, 10**5, 10**7])
def test_no_number_of_traces_rescues_the_printed_theorem_for_one_step(traces: int) -> None:
    printed = BOUNDS["theorem-2-paper"]
    claimed = printed.solve("delta", traces=traces, epsilon=EPSILON, tv=EPSILON, horizon=1)
    assert claimed < DELTA
    assert failure(EPSILON, 1, traces) > 0.49


@pytest.mark.parametrize(("tv", "horizon"), [(0.045, 1), (0.0015, 30), (0.002, 30), (0.0002, 200)])
@pytest.mark.parametrize("traces", [200, 1309, 5000])
def test_the_corrected_theorem_keeps_its_claim_on_the_worst_chain(tv: float, horizon: int, traces: int) -> None:
    claimed = BOUNDS["theorem-2-sound"].solve("delta", traces=traces, epsilon=EPSILON, tv=tv, horizon=horizon, sides=1)
    assert failure(tv, horizon, traces) <= claimed


def test_many_more_traces_rescue_the_printed_budget_for_longer_horizons() -> None:
    split = BOUNDS["theorem-2-sound"]
    needed = split.solve("traces", epsilon=EPSILON, delta=DELTA, tv=EPSILON / 30, horizon=30)
    assert needed == pytest.approx(1.8e5, rel=0.03)
    assert EPSILON - model_error(EPSILON / 30, 30) == pytest.approx(0.0038, abs=5e-5)
    with pytest.raises(AmbsError, match="no number of traces is enough"):
        split.solve("traces", epsilon=EPSILON, delta=DELTA, tv=EPSILON, horizon=1)


def accepted(tv: float, horizon: int, traces: int, mu: float = 0.8999) -> float:
    """P(accept) of an unsafe state, when T has a constant hazard per step and T̂ one smaller by `tv`."""
    hazard = 1 - mu ** (1 / horizon) - tv
    return float(binom.cdf(math.floor(traces * (LEVEL - EPSILON)), traces, 1 - (1 - hazard) ** horizon))


@pytest.mark.parametrize(
    ("horizon", "printed", "corrected"),
    [
        (1, (0.586, 0.549), (5.8e-8, 3.3e-18)),
        (5, (0.261, 0.109), (1.6e-8, 1.2e-19)),
        (30, (0.211, 0.068), (1.2e-8, 6.1e-20)),
    ],
)
def test_what_the_printed_budget_does_to_the_shield(
    horizon: int, printed: tuple[float, float], corrected: tuple[float, float]
) -> None:
    for traces, wrong, right in zip((512, TRACES), printed, corrected, strict=True):
        assert accepted(tv_budget(EPSILON, horizon, "paper"), horizon, traces) == pytest.approx(wrong, abs=6e-4)
        assert accepted(tv_budget(EPSILON, horizon), horizon, traces) == pytest.approx(right, rel=0.03)


@pytest.mark.parametrize("horizon", [1, 5, 30])
def test_the_null_rate_makes_the_shield_sound_where_it_matters_most(horizon: int) -> None:
    tv = tv_budget(EPSILON, horizon)
    p0 = null_violation_rate(LEVEL, tv, horizon)
    traces = exact_traces_required(LEVEL, EPSILON, DELTA, p0)
    assert accepted(tv, horizon, traces) <= DELTA
    # At the printed budget the same number of traces is not enough.
    assert accepted(tv_budget(EPSILON, horizon, "paper"), horizon, traces) > 0.25


def test_512_traces_do_not_follow_from_equation_4() -> None:
    half = BOUNDS["theorem-2-half"]
    assert half.solve("delta", traces=512, epsilon=EPSILON, sides=1) == pytest.approx(0.126, abs=5e-4)
    assert half.solve("epsilon", traces=512, delta=DELTA, sides=1) == pytest.approx(0.134, abs=5e-4)

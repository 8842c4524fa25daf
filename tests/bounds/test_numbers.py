"""The closed forms, against numbers that were worked out by hand or that stand in the paper."""

import math

import pytest

from ambs.bounds import (
    BOUNDS,
    hoeffding_value_error,
    model_error,
    null_violation_rate,
    traces_required,
    tv_budget,
    tv_for_error,
    variance_aware_error,
    visits_required,
)


@pytest.mark.parametrize(
    ("model", "sides", "traces"),
    [("exact", 2, 328), ("exact", 1, 285), ("learned", 2, 1309), ("learned", 1, 1138)],
)
def test_traces_of_the_paper(model: str, sides: int, traces: int) -> None:
    assert traces_required(0.09, 0.01, model=model, sides=sides) == traces


def test_traces_default_to_the_two_sided_theorem_1() -> None:
    assert traces_required(0.09, 0.01) == 328


@pytest.mark.parametrize(("version", "budget"), [("paper", 0.003), ("sound", 0.0015), ("tight", 1 - 0.955 ** (1 / 30))])
def test_tv_budget(version: str, budget: float) -> None:
    assert tv_budget(0.09, 30, version=version) == pytest.approx(budget, rel=1e-12)


def test_the_default_budget_is_the_sound_one() -> None:
    assert tv_budget(0.09, 30) == tv_budget(0.09, 30, version="sound")


@pytest.mark.parametrize("horizon", [1, 7, 30, 1000])
def test_a_model_within_the_sound_budgets_takes_at_most_half_of_epsilon(horizon: int) -> None:
    assert model_error(tv_budget(0.09, horizon, "tight"), horizon) == pytest.approx(0.045, rel=1e-12)
    assert model_error(tv_budget(0.09, horizon, "sound"), horizon) < 0.045 + 1e-15
    assert tv_budget(0.09, horizon, "sound") <= tv_budget(0.09, horizon, "tight")


@pytest.mark.parametrize(("horizon", "error"), [(1, 0.0900), (5, 0.0868), (15, 0.0863), (30, 0.0862)])
def test_model_error_at_the_printed_budget(horizon: int, error: float) -> None:
    tv = tv_budget(0.09, horizon, "paper")
    assert model_error(tv, horizon) == pytest.approx(error, abs=5e-5)
    assert model_error(tv, horizon, version="paper") == pytest.approx(0.045, rel=1e-12)


def test_model_error_at_the_ends() -> None:
    assert model_error(0, 30) == 0
    assert model_error(1, 30) == 1
    assert model_error(0.5, 2) == pytest.approx(0.75, rel=1e-15)
    # 1 - (1 - 1e-18)^10 would be 0 if it were computed as it is written.
    assert model_error(1e-18, 10) == pytest.approx(1e-17, rel=1e-12)


def test_tv_for_error_inverts_model_error() -> None:
    assert tv_for_error(0.75, 2) == pytest.approx(0.5, rel=1e-15)


def test_null_violation_rate() -> None:
    assert null_violation_rate(0.1, tv_budget(0.09, 30, "tight"), 30) == pytest.approx(0.055, rel=1e-12)
    assert null_violation_rate(0.1, 0, 30) == 0.1


@pytest.mark.parametrize(
    ("states", "successors", "paper", "weissman_all", "weissman_next"),
    [
        (20, 20, 1.29e6, 3650, 3650),
        (50, 50, 8.99e6, 7810, 7810),
        (100, 100, 3.87e7, 1.47e4, 1.47e4),
        (200, 200, 1.66e8, 2.86e4, 2.86e4),
        (200, 4, 1.66e8, 2.86e4, 1400),
    ],
)
def test_visits_for_one_state(
    states: int, successors: int, paper: float, weissman_all: float, weissman_next: float
) -> None:
    asked = {"tv": 0.05, "delta": 0.05, "actions": 4}
    assert visits_required(**asked, states=states, version="paper") == pytest.approx(paper, rel=5e-3)
    assert visits_required(**asked, states=1, successors=states) == pytest.approx(weissman_all, rel=4e-3)
    assert visits_required(**asked, states=1, successors=successors) == pytest.approx(weissman_next, rel=4e-3)


def test_the_papers_chain_from_epsilon_to_visits() -> None:
    """50 states, 4 actions, n = 30: the paper's own route to ε = .09, with the union over the states."""
    asked = {"delta": 0.01 / 50, "states": 50, "actions": 4, "version": "paper"}
    assert visits_required(tv_budget(0.09, 30, "paper"), **asked) == pytest.approx(4.0e9, rel=0.01)
    assert visits_required(tv_budget(0.09, 30, "sound"), **asked) == pytest.approx(1.6e10, rel=0.01)


def test_the_tighter_chains() -> None:
    tv = tv_budget(0.09, 30, "tight")
    size = {"states": 50, "actions": 4}
    assert visits_required(tv, 0.01, **size) == pytest.approx(9.5e6, rel=5e-3)
    assert visits_required(tv, 0.01, **size, successors=5) == pytest.approx(2.8e6, rel=0.02)
    asked = {"error": 0.045, "delta": 0.01, "horizon": 30, **size}
    assert BOUNDS["value-hoeffding"].solve("visits", **asked) == pytest.approx(3.1e6, rel=5e-3)
    assert BOUNDS["variance-aware"].solve("visits", **asked, mu=0.9) == pytest.approx(1.6e5, rel=0.04)


def test_the_papers_gridworld_remark_replaces_the_states_everywhere() -> None:
    asked = {"tv": 0.1, "delta": 0.01, "version": "paper"}
    four = visits_required(**asked, states=1000, actions=4, successors=4)
    assert four == visits_required(**asked, states=4, actions=4)
    assert four == math.ceil(16 / 0.1**2 * math.log(2 * 4 * 4 / 0.01))


def test_deterministic_transitions_are_known_after_one_visit() -> None:
    assert visits_required(1e-6, 1e-6, states=10**6, actions=10, successors=1) == 1


def test_a_million_successors_do_not_overflow() -> None:
    exact = (10**6 * math.log(2) + math.log(100)) / (2 * 0.1**2)
    assert visits_required(0.1, 0.01, states=1, actions=1, successors=10**6) == math.ceil(exact)


def test_negligible_actions_take_four_times_the_visits() -> None:
    asked = {"tv": 0.05, "delta": 0.05, "states": 20, "actions": 4, "successors": 3}
    exact = math.log(6 * 20 * 4 / 0.05) / (2 * 0.05**2)
    assert visits_required(**asked) == math.ceil(exact)
    assert visits_required(**asked, negligible_actions=True) == math.ceil(4 * exact)


def test_value_errors_by_hand() -> None:
    assert hoeffding_value_error(100, 0.5, 2, states=1, actions=1) == pytest.approx(
        2 * math.sqrt(math.log(8) / 200), rel=1e-12
    )
    log, visits, horizon = math.log(4 * 30 * 50 * 4 / 0.01), 10**5, 30
    for mu, variance in [(0.9, 0.09), (None, 0.25), (1.0, 0.0)]:
        error = variance_aware_error(visits, 0.01, horizon, states=50, actions=4, mu=mu)
        inside = variance + error + horizon * math.sqrt(log / (2 * visits))
        right = math.sqrt(2 * log * horizon / visits * inside) + horizon * log / (3 * visits)
        assert error == pytest.approx(right, rel=1e-12)


def test_an_unknown_mu_is_the_worst() -> None:
    size = {"states": 5, "actions": 2}
    unknown = variance_aware_error(1000, 0.01, 10, **size)
    assert unknown == variance_aware_error(1000, 0.01, 10, **size, mu=0.5)
    assert unknown > variance_aware_error(1000, 0.01, 10, **size, mu=0.6)

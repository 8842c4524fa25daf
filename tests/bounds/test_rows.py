"""The table that the command line prints."""

import json

import pytest

from ambs.bounds import BOUNDS, rows, tv_budget
from ambs.errors import AmbsError


def values(**asked) -> dict[str, object]:
    return {str(row["key"]): row["value"] for row in rows(**asked)}


def test_the_papers_numbers_are_the_defaults() -> None:
    assert values() == {
        "theorem-1": 328,
        "exact-binomial": 44,
        "theorem-2-paper": 1309,
        "theorem-2-half": 1309,
        "theorem-2-sound": 1309,
        "exact-binomial-learned": 118,
        "theorem-3-paper": None,
        "weissman": None,
        "value-hoeffding": None,
        "variance-aware": None,
    }


def test_the_chain_to_half_of_epsilon() -> None:
    asked = values(states=50, actions=4, successors=5, mu=0.9)
    assert asked["weissman"] == pytest.approx(2.8e6, rel=0.02)
    assert asked["value-hoeffding"] == pytest.approx(3.1e6, rel=5e-3)
    assert asked["variance-aware"] == pytest.approx(1.6e5, rel=0.04)
    assert values(states=50, actions=4)["weissman"] == pytest.approx(9.5e6, rel=5e-3)


def test_one_side() -> None:
    asked = values(sides=1)
    assert (asked["theorem-1"], asked["theorem-2-paper"], asked["theorem-2-sound"]) == (285, 1138, 1138)


def test_what_is_missing_is_said() -> None:
    reasons = {row["key"]: row["reason"] for row in rows()}
    assert reasons["weissman"] == "weissman needs states and actions to be solved for visits."
    assert reasons["theorem-1"] is None


def test_a_row_says_what_went_in_and_what_may_be_claimed() -> None:
    row = next(row for row in rows("delta", traces=1309) if row["key"] == "theorem-2-sound")
    bound = BOUNDS["theorem-2-sound"]
    assert row["quantity"] == "delta"
    assert row["symbol"] == "δ"
    assert row["given"] == {
        "epsilon": 0.09,
        "horizon": 30,
        "traces": 1309,
        "sides": 2,
        "tv": tv_budget(0.09, 30, "tight"),
    }
    for field in ("title", "source", "sound", "statement", "assumes", "claims", "warning"):
        assert row[field] == getattr(bound, field)


@pytest.mark.parametrize("quantity", ["m", "epsilon", "delta", "alpha", "n", "error", "visits", "traces"])
def test_every_quantity_has_a_table_and_the_table_is_json(quantity: str) -> None:
    table = rows(quantity, visits=10**6, tv=0.001, states=50, actions=4, traces=1309)
    assert json.loads(json.dumps(table)) == table
    assert [row["key"] for row in table] == [key for key, bound in BOUNDS.items() if bound.has(quantity)]
    assert all((row["value"] is None) != (row["reason"] is None) for row in table)
    assert sum(row["value"] is not None for row in table) > len(table) / 2


def test_a_distance_that_is_given_is_used() -> None:
    perfect = values(tv=0)
    assert perfect["theorem-2-sound"] == perfect["theorem-1"] == 328
    assert perfect["exact-binomial-learned"] == perfect["exact-binomial"] == 44
    assert values(tv=0.0029)["theorem-2-half"] is None
    assert values(tv=0.0029)["theorem-2-paper"] == 1309


def test_a_model_that_takes_all_of_epsilon_leaves_nothing_to_the_sampling() -> None:
    reasons = {row["key"]: row["reason"] for row in rows(error=0.09)}
    assert "no number of traces is enough" in str(reasons["theorem-2-sound"])
    assert "does not hold with tv" in str(reasons["theorem-2-half"])
    assert "takes too long" in str(reasons["exact-binomial-learned"])


def test_unsound_bounds_and_only_they_carry_a_warning() -> None:
    assert {key for key, bound in BOUNDS.items() if bound.warning} == {"theorem-2-paper", "model-error-paper"}
    assert all(bound.sound == (bound.warning is None) for bound in BOUNDS.values())


def test_bad_numbers_are_errors_and_not_reasons() -> None:
    with pytest.raises(AmbsError, match="epsilon is 2"):
        rows(epsilon=2)
    with pytest.raises(AmbsError, match="No bound has 'sides'; solve for m, "):
        rows("sides")
    with pytest.raises(AmbsError, match="states is 0"):
        rows(states=0)

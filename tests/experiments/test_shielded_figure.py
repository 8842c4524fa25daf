"""The table of shielded runs: what is counted, of which runs, and against which."""

import json

import pytest

from experiments.shielded_figure import measures, of_plan, summary, table
from experiments.training_runs import Plan

BARE, SHIELDED = Plan("pond", 8, name="pond-pixels"), Plan("pond", 8, name="pond-recover", agent="ambs")


def run(violations, returns, rate=None):
    ended = [int(mean is not None) for mean in returns]
    curve = {"step": list(range(1, 21)), "return": returns, "episodes": ended, "violations": violations}
    # Two more in episodes that had not ended.
    told = {"violations": sum(violations) + 2}
    return {"curve": curve, "summary": told if rate is None else {**told, "override_rate": rate}}


def test_the_last_quarter_and_the_last_tenth_are_the_last():
    found = measures(run([1] * 15 + [3] * 5, [0.0] * 18 + [4.0, None], 0.25))
    assert found == {"violations": 32, "last_quarter": 15, "return": 4.0, "override_rate": 0.25}


def test_a_summary_sets_seeds_against_the_agent_without_a_shield():
    bare = {seed: run([4] * 20, [1.0] * 20) for seed in (0, 1)}
    mine = {0: run([1] * 20, [1.0] * 20, 0.1), 1: run([1] * 20, [3.0] * 20, 0.3)}
    found = summary(SHIELDED, mine, bare)
    assert found["seeds"] == [0, 1]
    assert found["violations"]["values"] == [22, 22]
    assert found["violations_ratio"] == "3.7× (3.7 to 3.7)"
    assert found["last_quarter_ratio"] == "4.0× (4.0 to 4.0)"
    # t(1 degree of freedom) = 12.706, and the standard error of 1 and 3 is 1.
    assert found["return"]["shown"] == "2.0 ± 12.7"
    assert found["override_rate"]["shown"] == "0.200 ± 1.271"
    alone = summary(BARE, bare, bare)
    assert alone["violations_ratio"] is None
    assert alone["override_rate"] is None
    assert "| pond-recover | ambs | 2 | 22.0 ± 0.0 | 3.7× (3.7 to 3.7) | 5.0 ± 0.0 |" in table([alone, found])


def test_of_a_part_in_which_no_episode_ended_nothing_is_known():
    """And of single runs there is no interval."""
    bare, mine = {0: run([4] * 20, [1.0] * 20)}, {0: run([1] * 20, [1.0] * 15 + [None] * 5, 1.0)}
    found = summary(SHIELDED, mine, bare)
    assert (found["last_quarter"], found["last_quarter_ratio"], found["return"]) == (None, None, None)
    assert found["violations_ratio"] == "3.7×"
    assert "| pond-recover | ambs | 1 | 22.0 | 3.7× |  |  |  | 1.000 |" in table([found])


@pytest.mark.parametrize(("name", "seeds"), [("pond-recover", [0, 12]), ("pond", [])])
def test_runs_are_those_of_the_plan_alone(tmp_path, name, seeds):
    """`pond-recover-s0` is no run of `pond`, nor `pond-recover-slow-s1` of `pond-recover`."""
    (tmp_path / "ambs").mkdir()
    for stem in ("pond-recover-s0", "pond-recover-s12", "pond-recover-slow-s1", "pond-recover-sound-s2"):
        (tmp_path / "ambs" / f"{stem}.json").write_text(json.dumps({"curve": {}}))
    assert sorted(of_plan(Plan("pond", 8, name=name, agent="ambs"), tmp_path)) == seeds

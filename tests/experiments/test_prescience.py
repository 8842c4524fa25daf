"""What bounded prescience prevents: steps are counted, not resets, and a table is made of what was counted."""

import json

from ambs.envs.guards import GuardConfig
from experiments.prescience import at_random, table


def test_it_prevents_violations_and_counts_what_that_takes(tmp_path):
    plain, guarded = (at_random("minatar-seaquest", guard, 200, 0) for guard in (None, GuardConfig(depth=2)))
    assert plain["violations"] > guarded["violations"]
    for one in (plain, guarded):
        assert one["steps"] == 200
        assert sum(one["violations_by_block"]) == one["violations"]
        assert len(one["violations_by_block"]) == 2
    assert (plain["overrides"], plain["simulator_steps"]) == (0, 0)
    # Two steps a decision at least, but for the last of an episode.
    assert guarded["overrides"] > 0
    assert guarded["simulator_steps"] > 380
    for seed in (0, 1):
        for shield, one in (("none", plain), ("prescience-2", guarded)):
            told = {"env": "minatar-seaquest", "policy": "random", "shield": shield, "seed": seed, **one}
            (tmp_path / f"{shield}-{seed}.json").write_text(json.dumps(told))
    rows = table(tmp_path.glob("*.json")).splitlines()[4:]
    assert [row.split(" | ")[2:4] for row in rows] == [["none", "400"], ["prescience-2", "400"]]
    assert f"| {5 * plain['violations']:.2f} (" in rows[0]

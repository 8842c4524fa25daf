"""Means of a kept suite: what is in them, and when two agents are apart."""

import json

from experiments import bench_means


def run(agent: str, seed: int, violations: list[int]) -> dict:
    """A kept run of four steps a part, the first two parts random."""
    return {
        "game": "pond",
        "name": agent,
        "config": {"prefill": 8},
        "summary": {"seed": seed, "violations": sum(violations) + 1, "final_return": 2.0, "cpu_seconds": 120.0},
        "curve": {
            "step": [4, 8, 12, 16],
            "return": [0.0, 1.0, None, 3.0],
            "episodes": [1, 1, 0, 1],
            "violations": violations,
        },
    }


def kept(folder, agent: str, late: list[int]) -> None:
    for seed, count in enumerate(late):
        told = run(agent, seed, [1, 2, 0, count])
        (folder / f"pond-{agent}-s{seed}.json").write_text(json.dumps(told), encoding="utf-8")


def test_random_steps_are_told_apart_and_agents_too(tmp_path):
    kept(tmp_path, "ambs", [0, 1, 2])
    kept(tmp_path, "dreamer", [20, 21, 22])
    found = bench_means.means(tmp_path)["pond"]
    assert found["ambs"]["random"]["values"] == [3.0, 3.0, 3.0]
    # With the one of an episode that had not ended.
    assert found["ambs"]["violations"]["values"] == [4.0, 5.0, 6.0]
    assert found["ambs"]["violations"]["half"] == 2.4841  # Student: 4.3027 · 1 / √3
    assert "override_rate" not in found["dreamer"]
    shown = bench_means.table(found)
    assert "| violations while training | 5 ± 2 (4, 5, 6) | 25 ± 2 (24, 25, 26) |" in shown
    assert "violations while training: the intervals of ambs and dreamer do not overlap." in shown
    assert "return at the end: the intervals of ambs and dreamer overlap." in shown
    assert "fewer violations: 5.0×" in shown
    # Of 2 and of 22.
    assert "fewer after the random steps: 11.0×" in shown


def test_a_single_run_has_no_interval(tmp_path):
    kept(tmp_path, "ambs", [0])
    kept(tmp_path, "dreamer", [40])
    found = bench_means.means(tmp_path)["pond"]
    assert not bench_means.apart(found["ambs"]["violations"], found["dreamer"]["violations"])
    assert "| violations while training | 4 (4) | 44 (44) |" in bench_means.table(found)

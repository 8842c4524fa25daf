"""A run's curves, counted by hand from its rows."""

import json

import numpy as np
import pytest

from ambs.runs.curves import BINS, Curves
from ambs.runs.figure import draw

EPISODES = [
    {"step": 1, "return": 2.0, "length": 1, "violations": 1},
    {"step": 10, "return": 4.0, "length": 9, "violations": 0},
    {"step": 11, "return": 5.0, "length": 1, "violations": 3},
    # A vector's last step may pass the end of the run.
    {"step": 503, "return": 7.0, "length": 492, "violations": 2},
]
METRICS = [{"step": 100, "loss/reward": 1.0}, {"step": 200, "shield/override_rate": 0.25}]


@pytest.fixture
def run(tmp_path):
    for name, rows in (("scores", EPISODES), ("metrics", METRICS)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return Curves.of(tmp_path, BINS * 10)


def test_episodes_count_where_they_ended(run):
    assert run.step[:2].tolist() == [10, 20]
    assert run.returns[[0, 1, -1]].tolist() == [3.0, 5.0, 7.0]
    assert np.isnan(run.returns[2:-1]).all()
    assert run.episodes[[0, 1, 2, -1]].tolist() == [2, 1, 0, 1]
    assert run.violations[[0, 1, 2, -1]].tolist() == [1, 3, 0, 2]
    assert [each.tolist() for each in run.overrides] == [[200.0], [0.25]]


def test_what_is_kept_comes_back(run):
    back = Curves.of_json(json.loads(json.dumps(run.as_json(), allow_nan=False)))
    for name in ("step", "returns", "episodes", "violations"):
        np.testing.assert_array_equal(getattr(back, name), getattr(run, name))
    assert back.until(25).step.tolist() == [10, 20]


def test_the_picture_has_a_panel_for_the_shield_only_if_there_is_one(run, tmp_path):
    draw({"mine": run, "kept": run.until(400)}, "both", tmp_path / "both.png")
    draw({"kept": run.until(400)}, "one", tmp_path / "one.png")
    sizes = [(tmp_path / f"{name}.png").read_bytes()[16:20] for name in ("both", "one")]
    assert int.from_bytes(sizes[0]) == 1500
    assert int.from_bytes(sizes[1]) == 1020


def test_the_last_tenth_is_of_the_steps_and_weighs_every_episode_alike(run):
    assert run.last_tenth() == 7.0
    # The last of 10 parts, with 2 episodes of mean 3; the first, of as many, does not count.
    kept = {"step": list(range(10, 110, 10)), "return": [9.0, *[None] * 8, 3.0], "episodes": [2, *[0] * 8, 2]}
    assert Curves.of_json({**kept, "violations": [0] * 10}).last_tenth() == 3.0
    assert run.until(450).last_tenth() is None

"""A run that is stopped and resumed is the run that was not: the same losses, scores, counters and weights."""

import dataclasses
import json
import os
import signal
from itertools import pairwise

import numpy as np
import pytest

from ambs import AmbsError
from ambs.replay import Ring
from ambs.runs.dreamer import Interrupted, train
from ambs.runs.storage import latest, read_config
from tests.runs.dreamer.small import NO_TIME, Brief, Fickle, Uneven, enter, rows, small, weights


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run that nobody interrupts."""
    path = tmp_path_factory.mktemp("whole") / "run"
    return path, train(small(), path)


def assert_same_run(path, summary, whole, extra_rows=()):
    other, other_summary = whole
    assert [row for row in rows(path, "metrics") if row["step"] not in extra_rows] == rows(other, "metrics")
    assert rows(path, "scores") == rows(other, "scores")
    assert {**summary, **NO_TIME} == {**other_summary, **NO_TIME}
    assert_same_arrays(path, other)


def assert_same_arrays(path, other):
    mine, theirs = weights(path), weights(other)
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        np.testing.assert_array_equal(array, theirs[name], err_msg=name)


def test_a_whole_run(whole):
    path, summary = whole
    assert (summary["steps"], summary["updates"], summary["episodes"]) == (600, (600 - 64) // 8, 6)
    assert json.loads((path / "summary.json").read_text()) == summary
    assert [row["step"] for row in rows(path, "metrics")] == [64, 128, 192, 256, 320, 384, 448, 512, 576, 600]
    last = rows(path, "metrics")[-1]
    assert {"task/actor_loss", "return", "violations"} <= last.keys()
    # As docs/training.md names them.
    losses = ("observation", "reward", "continue", "cost", "safety", "dynamics", "representation", "ahead")
    assert {name for name in last if name.startswith("loss/")} == {f"loss/{name}" for name in losses}
    scores = rows(path, "scores")
    assert [(row["step"], row["length"]) for row in scores] == [(step, 100) for step in (200, 200, 400, 400, 600, 600)]
    assert summary["violations"] == sum(row["violations"] for row in scores) > 0
    assert summary["best_return"] == max(row["return"] for row in scores)
    assert summary["final_return"] == np.mean([row["return"] for row in scores])


def test_in_the_middle_of_episodes_and_of_a_row_of_metrics(tmp_path, whole):
    train(small(steps=310), tmp_path)
    notes = []
    summary = train(small(), tmp_path, lambda status: notes.append(status.note) if status.note else None)
    assert notes == [f"the run {tmp_path} goes on from step 310; steps was 310 and is now 600"]
    assert_same_run(tmp_path, summary, whole, extra_rows=[310])


def test_what_the_agent_remembers_of_its_episodes(tmp_path):
    """Before they end, for then it forgets; the arrays of the checkpoint are its memory too."""
    train(small(steps=330), tmp_path / "whole")
    for steps in (310, 330):
        train(small(steps=steps), tmp_path / "parts")
    assert_same_arrays(tmp_path / "parts", tmp_path / "whole")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_after_a_signal(tmp_path, whole, number):
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]

    def at_250(status):
        if status.steps == 250:
            os.kill(os.getpid(), number)

    with pytest.raises(Interrupted, match=r"interrupted at step 25\d; the same command goes on") as stop:
        train(small(), tmp_path, at_250)
    assert stop.value.signal == number
    assert latest(tmp_path / "checkpoints")["step"] == stop.value.step
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    assert_same_run(tmp_path, train(small(), tmp_path), whole)


def test_after_a_signal_in_a_step_that_one_environment_sits_out(tmp_path, monkeypatch):
    """It begins an episode instead: the row of step 7 n is of the step before, and not due again."""
    enter(monkeypatch, "uneven", Uneven)
    # An update for every step, so that the signal leaves some to do.
    config, seen = small(env="uneven", steps=150, train_ratio=16.0, log_every=7, checkpoint_every=1000), [0]
    summary = train(config, tmp_path / "whole", lambda status: seen.append(status.steps))
    told = next(n for n, (one, next_) in enumerate(pairwise(seen)) if one > 80 and one % 7 == 0 and next_ == one + 1)
    count = iter(range(1, len(seen)))

    def stop(status):
        if next(count) == told:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted, match=f"interrupted at step {seen[told] + 1}"):
        train(config, tmp_path / "parts", stop)
    counters = latest(tmp_path / "parts" / "checkpoints")["extra"]["counters"]
    assert counters["updates"] < counters["steps"] - config.prefill, "some are left to do"
    assert_same_run(tmp_path / "parts", train(config, tmp_path / "parts"), (tmp_path / "whole", summary))


def test_from_the_checkpoint_before_a_damaged_one(tmp_path, monkeypatch):
    """At worst: killed just before the next, with a replay that has long begun anew, and a reset for every step."""
    enter(monkeypatch, "brief", Brief)
    config = small(env="brief", steps=200, capacity=32, checkpoint_every=20)

    def killed_at_178(status):
        if status.steps == 178:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        train(config, tmp_path / "run", killed_at_178)
    arrays = max((tmp_path / "run" / "checkpoints").glob("*.safetensors"))
    assert arrays.name.startswith("000000000160-")
    arrays.write_bytes(arrays.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="000000000160.json is damaged, and the one before it is used") as warned:
        summary = train(config, tmp_path / "run")
    assert len(warned) == 1
    whole = tmp_path / "whole", train(config, tmp_path / "whole")
    header = json.loads((tmp_path / "whole" / "replay" / "ring.json").read_text())
    assert header["capacity"] + header["margin"] < 2 * 140, "it had begun anew by the checkpoint"
    assert_same_run(tmp_path / "run", summary, whole)


def test_no_longer_intervals_than_the_replay_was_made_for(tmp_path):
    train(small(steps=50, checkpoint_every=20), tmp_path)
    with pytest.warns(UserWarning, match="checkpoint_every is 1,000, and the replay was made for at most 20, so"):
        train(small(steps=90, checkpoint_every=1000), tmp_path)
    assert sorted(int(one.stem) for one in (tmp_path / "checkpoints").glob("*.json")) == [80, 90]


def test_not_at_all_when_no_checkpoint_is_whole(tmp_path):
    train(small(steps=100), tmp_path)
    for arrays in (tmp_path / "checkpoints").glob("*.safetensors"):
        arrays.write_bytes(b"")
    scores = rows(tmp_path, "scores")
    with (
        pytest.warns(UserWarning, match="damaged"),
        pytest.raises(AmbsError, match="none of the checkpoints .* is whole"),
    ):
        train(small(steps=200), tmp_path)
    assert rows(tmp_path, "scores") == scores


def test_a_finished_run_is_left_as_it_is(whole):
    path, summary = whole
    files = {file: file.stat().st_mtime_ns for file in path.rglob("*") if file.name not in ("lock", "summary.json")}
    notes = []
    assert train(small(), path, lambda status: notes.append(status.note)) == summary
    assert notes == [f"the run {path} has its steps already"]
    assert all(file.stat().st_mtime_ns == time for file, time in files.items())


def test_options_that_may_not_change_and_options_that_may(tmp_path):
    train(small(steps=100), tmp_path)
    with pytest.raises(AmbsError, match=r"^train_ratio was 2.0 when the run .* and is now 4.0; leave it as it was"):
        train(small(steps=200, train_ratio=4.0), tmp_path)
    learner = small().learner
    slower = dataclasses.replace(learner, world_model=dataclasses.replace(learner.world_model, learning_rate=1e-5))
    assert train(small(steps=100, learner=slower), tmp_path)["steps"] == 100
    assert read_config(tmp_path)["learner"]["world_model"]["learning_rate"] == 1e-5
    assert read_config(tmp_path)["agent"] == "dreamer"


def first_rows(path, config, lane):
    ring = Ring.open(path / "replay", *_ring_of(path, config))
    return ring.gather(np.array([lane]), np.array([0]), ring.written)["is_first"][0]


def _ring_of(path, config):
    header = json.loads((path / "replay" / "ring.json").read_text())
    layout = {key: (field["shape"], field["dtype"]) for key, field in header["layout"].items()}
    return layout, config.capacity, config.envs


def test_an_environment_that_its_seed_does_not_decide_begins_new_episodes(tmp_path, monkeypatch):
    enter(monkeypatch, "fickle", Fickle)
    config = small(env="fickle", steps=300)
    train(config, tmp_path)
    with pytest.warns(UserWarning, match="new episodes have begun.*not decided by its seed") as warned:
        summary = train(dataclasses.replace(config, steps=600), tmp_path)
    assert len(warned) == 1
    assert (summary["steps"], summary["updates"]) == (600, (600 - 64) // 8)
    # 150 steps were made in each lane, and its second episode given up: rows 0 and 101, then the one after the resume.
    assert np.flatnonzero(first_rows(tmp_path, config, 0)).tolist()[:3] == [0, 101, 151]
    assert [row["length"] for row in rows(tmp_path, "scores")] == [100] * 4


def test_a_replay_too_small_for_an_episode_begins_new_episodes(tmp_path):
    config = small(steps=140, capacity=16, checkpoint_every=10)
    train(config, tmp_path)
    with pytest.warns(UserWarning, match="new episodes have begun.*replay no longer holds their beginning"):
        summary = train(dataclasses.replace(config, steps=200), tmp_path)
    assert (summary["steps"], summary["episodes"]) == (200, 0)

"""Logs lose nothing to a kill but what comes again."""

import json
import os
import warnings

import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.runs.storage import MetricsLog
from tests.runs.storage.processes import short_of_disk


def rows(path):
    return [json.loads(line, parse_constant=pytest.fail) for line in path.read_text().splitlines()]


def test_rows_as_they_were_given(tmp_path):
    with MetricsLog(tmp_path) as log:
        log.metrics(10, {"loss/reward": jnp.float32(0.5), "n": np.int64(3), "due": True, "phase": "explore"})
        log.score(12, episode_return=np.float32(2.5), length=12, violations=1, deliveries=2)
        # At once, not when the log is closed.
        assert rows(tmp_path / "metrics.jsonl") == [
            {"step": 10, "loss/reward": 0.5, "n": 3, "due": True, "phase": "explore"}
        ]
        assert rows(tmp_path / "scores.jsonl") == [
            {"step": 12, "return": 2.5, "length": 12, "violations": 1, "deliveries": 2}
        ]


def test_what_json_does_not_have_is_null(tmp_path):
    with MetricsLog(tmp_path) as log:
        log.metrics(1, {"a": float("nan"), "b": np.float32("inf"), "c": jnp.array(-jnp.inf), "d": 1.0})
    assert rows(tmp_path / "metrics.jsonl") == [{"step": 1, "a": None, "b": None, "c": None, "d": 1.0}]


@pytest.mark.parametrize("value", [np.zeros(2), {"a": 1}, [1.0]])
def test_what_is_no_number(tmp_path, value):
    with MetricsLog(tmp_path) as log, pytest.raises(AmbsError, match='the metric "loss" is .* has to be one number'):
        log.metrics(1, {"loss": value})


@pytest.mark.parametrize("rest", [b"", b'{"step": 3', b'{"step": 30}', b"\x00\x00", b"[1]\n", b"\n"])
def test_a_resumed_run_drops_what_came_after_its_checkpoint(tmp_path, rest):
    with MetricsLog(tmp_path) as log:
        for step in (10, 20, 30, 40):
            log.metrics(step, {"loss": step})
            log.score(step, episode_return=step, length=1, violations=0)
    with open(tmp_path / "metrics.jsonl", "ab") as file:
        file.write(rest)
    with MetricsLog(tmp_path, 30) as log:
        assert [row["step"] for row in rows(tmp_path / "metrics.jsonl")] == [10, 20, 30]
        log.metrics(35, {"loss": 35})
    assert [row["step"] for row in rows(tmp_path / "metrics.jsonl")] == [10, 20, 30, 35]
    assert [row["step"] for row in rows(tmp_path / "scores.jsonl")] == [10, 20, 30]
    assert sorted(os.listdir(tmp_path)) == ["metrics.jsonl", "scores.jsonl"]


@pytest.mark.parametrize(
    ("updates", "kept"), [(2, [(10, 9), (20, 0), (20, 2)]), (5, [(10, 9), (20, 0), (20, 2), (20, 5)])]
)
def test_rows_of_the_step_of_a_checkpoint_that_came_after_it(tmp_path, updates, kept):
    with MetricsLog(tmp_path) as log:
        for step, made in ((10, 9), (20, 0), (20, 2), (20, 5), (30, 5)):
            log.metrics(step, {"updates": made})
        log.score(20, episode_return=1.0, length=1, violations=0)
    with MetricsLog(tmp_path, 20, updates=updates):
        assert [(row["step"], row["updates"]) for row in rows(tmp_path / "metrics.jsonl")] == kept
    assert len(rows(tmp_path / "scores.jsonl")) == 1, "an episode ends before the updates of its step"


def test_a_run_killed_before_its_first_checkpoint_starts_anew(tmp_path):
    with MetricsLog(tmp_path) as log:
        log.metrics(10, {"loss": 1})
    with MetricsLog(tmp_path):
        assert rows(tmp_path / "metrics.jsonl") == []


def test_tensorboard_has_the_same_numbers(tmp_path):
    from tensorboardX.proto.event_pb2 import Event

    with MetricsLog(tmp_path, tensorboard=True) as log:
        log.metrics(10, {"loss": 0.5, "broken": float("nan"), "phase": "explore"})
        log.score(12, episode_return=2.0, length=12, violations=0)
    with MetricsLog(tmp_path, 10, tensorboard=True):
        pass
    found, starts = {}, []
    for path in sorted((tmp_path / "tensorboard").iterdir()):
        data = path.read_bytes()
        while data:
            # A record is its length and a checksum, the event, and a checksum.
            size = int.from_bytes(data[:8], "little")
            event = Event.FromString(data[12 : 12 + size])
            data = data[16 + size :]
            found |= {(value.tag, event.step): value.simple_value for value in event.summary.value}
            if event.HasField("session_log"):
                starts.append(event.step)
    assert found == {("loss", 10): 0.5, ("episode/return", 12): 2.0, ("episode/length", 12): 12.0,
                     ("episode/violations", 12): 0.0}  # fmt: skip
    assert starts[-1] == 11, "TensorBoard hides what comes after the checkpoint"


def log_until_refused(folder):
    try:
        with MetricsLog(folder) as log:
            for step in range(20):
                log.metrics(step, {"loss": 0.25})
    except AmbsError as error:
        return str(error)
    return "never refused"


def test_a_full_disk_is_a_sentence(tmp_path):
    assert "metrics.jsonl could not be written" in short_of_disk(100, log_until_refused, tmp_path)
    assert not (tmp_path / "metrics.jsonl").read_bytes().endswith(b"\n"), "half a row"
    with MetricsLog(tmp_path, 100):
        assert [row["step"] for row in rows(tmp_path / "metrics.jsonl")] == [0, 1, 2]


def log_for_tensorboard(folder, count):
    """What is warned of, and what ends it, if anything does."""
    ended = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with MetricsLog(folder, tensorboard=True) as log:
                for step in range(count):
                    log.metrics(step, {"loss": 0.25})
        except AmbsError as error:
            ended = str(error)
    return [str(one.message) for one in caught], ended


# A row is 27 to 29 bytes, and over 40 for TensorBoard, written 8,192 at a time: 600 rows fill the one file, 800 both.
@pytest.mark.parametrize(("count", "ended"), [(600, ""), (800, "metrics.jsonl could not be written")])
def test_a_full_disk_leaves_rows_for_tensorboard_out(tmp_path, count, ended):
    warned, said = short_of_disk(20_000, log_for_tensorboard, tmp_path, count)
    assert len(warned) == 1
    assert "goes on without rows for TensorBoard" in warned[0]
    assert "could not be written (File too large)" in warned[0]
    assert ended in said
    assert bool(said) == bool(ended)
    (events,) = (tmp_path / "tensorboard").iterdir()
    assert events.stat().st_size == 20_000
    if not ended:
        assert len(rows(tmp_path / "metrics.jsonl")) == count


def test_a_disk_that_is_full_when_the_log_is_closed(tmp_path):
    """The second row waits in memory until then."""
    warned, said = short_of_disk(120, log_for_tensorboard, tmp_path, 2)
    assert ([one[:36] for one in warned], said) == (["the run goes on without rows for Ten"], "")
    assert len(rows(tmp_path / "metrics.jsonl")) == 2


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(AmbsError, match="cannot be written: No such file or directory"):
        MetricsLog(tmp_path / "nowhere")

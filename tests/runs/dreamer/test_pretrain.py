"""Updates on the random steps before the agent acts: how many, when, and what an interruption leaves of them."""

import json
import os
import signal

import pytest

from ambs import AmbsError
from ambs.runs.dreamer import Interrupted, train
from tests.runs.dreamer.small import NO_TIME, rows, small
from tests.runs.dreamer.test_resume import assert_same_arrays


def test_they_are_made_once_when_the_random_steps_are_over_and_survive_an_interruption(tmp_path):
    config = small(steps=200, pretrain=7)
    told = []
    summary = train(config, tmp_path / "whole", told.append)
    assert summary["updates"] == 7 + (200 - 64) // 8
    pretraining = [status for status in told if status.doing == "pretraining"]
    assert [(status.steps, status.updates, status.due) for status in pretraining] == [(64, n, 7) for n in range(1, 8)]
    assert rows(tmp_path / "whole", "metrics")[0]["updates"] == 7

    def third(status):
        if status.doing == "pretraining" and status.updates == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted, match="interrupted at step 64"):
        train(config, tmp_path / "parts", third)
    again = train(config, tmp_path / "parts")
    assert {**again, **NO_TIME} == {**summary, **NO_TIME}
    assert_same_arrays(tmp_path / "parts", tmp_path / "whole")


def test_fewer_than_none_are_refused():
    with pytest.raises(AmbsError, match="pretrain is -1"):
        small(pretrain=-1)


def test_a_second_interruption_of_the_same_updates(tmp_path):
    """The rest is learned before anything else happens; and a row that was due comes after it."""
    config = small(steps=120, pretrain=7)
    summary = train(config, tmp_path / "whole")
    for at in (2, 5):

        def stop(status, at=at):
            if status.doing == "pretraining" and status.updates == at:
                os.kill(os.getpid(), signal.SIGINT)

        with pytest.raises(Interrupted, match="interrupted at step 64"):
            train(config, tmp_path / "parts", stop)
    assert {**train(config, tmp_path / "parts"), **NO_TIME} == {**summary, **NO_TIME}
    assert rows(tmp_path / "parts", "metrics") == rows(tmp_path / "whole", "metrics")
    assert_same_arrays(tmp_path / "parts", tmp_path / "whole")


def test_a_run_of_before_there_was_such_an_option_goes_on(tmp_path):
    """What it lacks is what it would be if not given."""
    train(small(steps=80), tmp_path)
    saved = json.loads((tmp_path / "config.json").read_text())
    assert "pretrain" not in saved
    assert "second_decay" not in saved["learner"]["world_model"]
    manifest = max((tmp_path / "checkpoints").glob("*.json"))
    said = json.loads(manifest.read_text())
    del said["extra"]["step_began"]
    manifest.write_text(json.dumps(said))
    assert train(small(steps=100), tmp_path)["steps"] == 100


def test_a_kill_after_the_resume_of_such_an_interruption(tmp_path):
    """The checkpoint of step 64 is of before its row: a row that was written since then comes again, and once."""
    config = small(steps=120, pretrain=7, checkpoint_every=200)

    def third(status):
        if status.doing == "pretraining" and status.updates == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    def killed(status):
        if status.steps == 100:
            raise RuntimeError("killed")

    train(config, tmp_path / "whole")
    with pytest.raises(Interrupted, match="interrupted at step 64"):
        train(config, tmp_path / "parts", third)
    with pytest.raises(RuntimeError, match="killed"):
        train(config, tmp_path / "parts", killed)
    assert [(row["step"], row["updates"]) for row in rows(tmp_path / "parts", "metrics")] == [(64, 7)]
    train(config, tmp_path / "parts")
    assert rows(tmp_path / "parts", "metrics") == rows(tmp_path / "whole", "metrics")

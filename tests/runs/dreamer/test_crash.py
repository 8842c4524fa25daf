"""An environment that crashes for good ends the run with its number, and the run goes on from its checkpoint."""

import warnings

import pytest

from ambs import AmbsError
from ambs.envs.vector import CrashWarning
from ambs.runs.dreamer import train
from ambs.runs.storage import latest
from tests.runs.dreamer.small import Torn, enter, small


def test_a_run_in_which_an_environment_crashes_again_and_again(tmp_path, monkeypatch):
    enter(monkeypatch, "torn", Torn)
    # It never comes to learning, which would have to be compiled.
    config = small(env="torn", steps=2000, prefill=2000, checkpoint_every=20)
    sentence = r"environment \d crashed \(RuntimeError: the belt is torn\); it is made anew"
    with pytest.warns(CrashWarning, match=sentence), pytest.raises(AmbsError) as error:
        train(config, tmp_path)
    first, *details, last = str(error.value).splitlines()
    assert first.startswith("environment 0 crashed 4 times without finishing an episode in between")
    assert first.endswith("because: RuntimeError: the belt is torn.")
    assert any("in step" in line for line in details)
    # Four episodes of 40 steps, in two environments.
    saved = latest(tmp_path / "checkpoints")["step"]
    assert 300 <= saved <= 340
    assert last == (
        f"The run has stopped, and its last good checkpoint is of step {saved}; mend the environment, and the same "
        "command goes on from there."
    )


def test_the_same_command_goes_on_when_it_is_mended(tmp_path, monkeypatch):
    enter(monkeypatch, "torn", Torn)
    config = small(env="torn", steps=360, prefill=2000, checkpoint_every=20)
    with pytest.warns(CrashWarning), pytest.raises(AmbsError, match="environment 0 crashed 4 times"):
        train(config, tmp_path)
    monkeypatch.setattr(Torn, "torn_at", 1000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert train(config, tmp_path)["steps"] == 360


def test_one_that_crashes_when_it_is_tried_out(tmp_path, monkeypatch):
    enter(monkeypatch, "torn", Torn)
    monkeypatch.setattr(Torn, "torn_at", 5)
    with pytest.raises(
        AmbsError, match=r"^the environment crashed when it was tried out \(RuntimeError: the belt is torn"
    ):
        train(small(env="torn"), tmp_path / "run")
    assert not (tmp_path / "run").exists()

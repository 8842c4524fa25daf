"""A run of Rainbow or IQN that is stopped, killed or damaged goes on as if nothing had been."""

import json
import os
import signal

import numpy as np
import pytest

import ambs
from ambs.runs.dreamer import Interrupted
from ambs.runs.storage import latest
from ambs.runs.value import train
from ambs.runs.value.trainee import ValueTrainee
from tests.runs.dreamer.small import rows, weights
from tests.runs.value.small import assert_same_run, small


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    return path, train(small(), path)


def test_a_whole_run(whole):
    path, summary = whole
    assert (summary["agent"], summary["steps"], summary["updates"]) == ("rainbow", 300, (300 - 40) // 4)
    last = rows(path, "metrics")[-1]
    assert {"loss", "value", "error", "gradient", "beta", "epsilon", "violations"} <= last.keys()
    assert last["epsilon"] == 0
    assert last["beta"] == pytest.approx(0.4 + 0.6 * (298 - 40) / 400)
    assert "['priorities']" in weights(path)
    assert weights(path)["['priorities']"].max() > 0


def test_stopped_in_the_middle(tmp_path, whole):
    train(small(steps=170), tmp_path)
    assert_same_run(tmp_path, train(small(), tmp_path), whole, extra_rows=(170,))


def test_after_a_signal(tmp_path, whole):
    def at_130(status):
        if status.steps == 130:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        train(small(), tmp_path, at_130)
    assert_same_run(tmp_path, train(small(), tmp_path), whole)


def test_after_a_signal_between_two_updates_of_a_step(tmp_path, monkeypatch):
    """Those that are left draw with the β of the step that they belong to."""
    config = small(steps=120, update_every=1)
    whole = tmp_path / "whole", train(config, tmp_path / "whole")
    learn, calls = ValueTrainee.learn, []

    def interrupted(self, *given, **named):
        calls.append(1)
        if len(calls) == 22:
            os.kill(os.getpid(), signal.SIGTERM)
        return learn(self, *given, **named)

    monkeypatch.setattr(ValueTrainee, "learn", interrupted)
    # A step of both environments asks for two updates: one of these signals comes between them.
    for number in (21, 22):
        calls[:] = [1] * (22 - number)
        with pytest.raises(Interrupted):
            train(config, tmp_path / str(number))
        assert_same_run(tmp_path / str(number), train(config, tmp_path / str(number)), whole)


def test_killed_after_the_ring_began_anew_with_a_damaged_checkpoint(tmp_path, whole):
    """From the last checkpoint but one: the rows that the lost steps had written over are not missed."""

    def killed(status):
        if status.steps == 286:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        train(small(), tmp_path, killed)
    newest = latest(tmp_path / "checkpoints")
    assert newest["step"] == 240
    (tmp_path / "checkpoints" / newest["file"]).write_bytes(b"")
    with pytest.warns(UserWarning, match="damaged"):
        assert_same_run(tmp_path, train(small(), tmp_path), whole)


def test_iqn_and_its_chance(tmp_path):
    """The draws of ε and of quantiles too."""
    path = tmp_path / "whole"
    whole = path, train(small("iqn", steps=150), path)
    assert 0 < rows(path, "metrics")[-1]["epsilon"] < 1
    assert "beta" not in rows(path, "metrics")[-1]
    train(small("iqn", steps=90), tmp_path / "parts")
    summary = train(small("iqn", steps=150), tmp_path / "parts")
    assert_same_run(tmp_path / "parts", summary, whole, extra_rows=(90,))
    # All as likely: those that there are have the same priority.
    assert set(weights(path)["['priorities']"].tolist()) == {0.0, 1.0}


def test_loaded_and_asked(whole):
    path, _ = whole
    agent = ambs.load(path, seed=3)
    env = agent.make_env()
    observation, _ = env.reset(seed=0)
    action, state = agent.predict(observation, deterministic=True)
    assert env.action_space.contains(action)
    assert state.shape == (1, 2, *env.observation_space.shape)
    assert not state[:, 0].any()
    later, _, _, _, _ = env.step(action)
    _, state = agent.predict(later, state)
    np.testing.assert_array_equal(state[0], [observation, later])
    _, state = agent.predict(later, state, episode_start=True)
    assert not state[:, 0].any()
    batch = np.stack([observation, later, later])
    actions, _ = agent.predict(batch, deterministic=True)
    assert actions.shape == (3,)
    again, _ = ambs.load(path, seed=9).predict(batch, deterministic=True)
    np.testing.assert_array_equal(actions, again)
    drawn = {tuple(agent.predict(batch)[0].tolist()) for _ in range(20)}
    assert len(drawn) > 1, "noise is drawn anew"
    with pytest.raises(ambs.AmbsError, match="of 2 environments, and the observation of 3"):
        agent.predict(batch, state.repeat(2, axis=0))
    with pytest.raises(ambs.AmbsError, match="not one that predict returned"):
        agent.predict(batch, "state")
    with pytest.raises(ambs.AmbsError, match="has no shield"):
        agent.decide(observation)


def test_the_folder_says_what_was_trained(whole):
    path, summary = whole
    assert json.loads((path / "config.json").read_text())["agent"] == "rainbow"
    assert json.loads((path / "summary.json").read_text()) == summary

"""A shield beside the environments of an agent that dreams: it remembers what was played, not what it proposed."""

import dataclasses

import numpy as np

from ambs.envs.guards import GuardConfig
from ambs.runs.dreamer import train
from ambs.runs.dreamer.run import Run
from ambs.runs.evaluate import evaluate, load
from tests.envs.guards.asking import other_than_the_first, watch
from tests.envs.guards.worlds import CAUSEWAY
from tests.runs.dreamer.small import NO_TIME, small, weights


def test_what_was_played_is_remembered(tmp_path, monkeypatch):
    step, acted_for = Run._next_batch, []

    def watched(run, acted, preferences):
        assert preferences is None, "the classical shield does not ask"
        proposed = run.position.action.copy()
        batch = step(run, acted, preferences)
        if acted:
            np.testing.assert_array_equal(run.position.memory.action, run.position.action)
            acted_for.append(not np.array_equal(proposed, run.position.action))
        return batch

    monkeypatch.setattr(Run, "_next_batch", watched)
    summary = train(small(env_options={"map": CAUSEWAY}, guard=GuardConfig("classical"), steps=100), tmp_path)
    assert (summary["agent"], summary["shield"]) == ("dreamer", "classical")
    assert sum(acted_for) > 3, "there were overrides"
    agent = load(tmp_path)
    _, state = agent.predict(np.stack([agent.make_env().reset(seed=0)[0]] * 2))
    np.testing.assert_array_equal(agent.played(state, [3, 4]).action, np.eye(5)[[3, 4]])
    assert evaluate(agent, episodes=2, envs=2).as_json()["override_rate"] > 0


def test_the_next_best_action_by_logits(tmp_path, monkeypatch):
    """The policy's logits where it has acted: in a run, resumed as if it had not been stopped, and evaluated."""
    step, logits = Run._next_batch, []

    def watched(run, acted, preferences):
        if acted:
            policy = run.trainee.learner.task.actor(run.position.memory.state.features)
            np.testing.assert_allclose(preferences, policy.logits, atol=1e-5)
            logits.append(preferences)
        return step(run, acted, preferences)

    config = small(env_options={"map": CAUSEWAY}, guard=GuardConfig("prescience", depth=1), steps=140)
    with monkeypatch.context() as patch:
        patch.setattr(Run, "_next_batch", watched)
        told = watch(patch)
        before = train(config, tmp_path / "whole")
    at_random = [asked for asked in told if asked.preferences is None]
    assert len(at_random) == config.prefill // config.envs
    np.testing.assert_array_equal([asked.preferences for asked in told[len(at_random) :]], logits)
    assert len(np.unique(logits)) > 10
    assert other_than_the_first(told) > 3
    train(dataclasses.replace(config, steps=100), tmp_path / "parts")
    assert {**train(config, tmp_path / "parts"), **NO_TIME} == {**before, **NO_TIME}
    mine, theirs = weights(tmp_path / "parts"), weights(tmp_path / "whole")
    assert all((mine[name] == theirs[name]).all() for name in theirs)
    with monkeypatch.context() as patch:
        told = watch(patch)
        evaluate(load(tmp_path / "whole"), episodes=2, envs=2, workers="inline", deterministic=True)
    assert all((asked.preferences.argmax(axis=1) == asked.proposed).all() for asked in told)
    other_than_the_first(told)

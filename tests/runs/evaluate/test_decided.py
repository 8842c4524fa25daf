"""What an evaluation tells of a shield is what its decisions say, of those that were played."""

import dataclasses

import numpy as np
import pytest

from ambs.agents.shielding import ShieldConfig
from ambs.envs.guards import GuardConfig
from ambs.runs.dreamer import train
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.runs.evaluate import SavedAgent, evaluate, load
from tests.runs.dreamer.small import small

STEPS = 100


@pytest.fixture(scope="module")
def shielded(tmp_path_factory):
    """With a shield, and hardly trained: that there is one is enough."""
    plain = cpu_learner("debug")
    learner = with_safety(dataclasses.replace(plain, behaviour=dataclasses.replace(plain.behaviour, horizon=5)), 8)
    path = tmp_path_factory.mktemp("runs") / "shielded"
    train(small(learner=learner, shield=ShieldConfig("sound"), steps=80), path)
    return path


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """The user's own cache of compiled programs is left alone."""
    monkeypatch.setenv("AMBS_CACHE", "")


def watch(monkeypatch):
    """All decisions as they are made; the first without an estimate, as of a model that broke, the one where the first
    episodes are over with numbers that would show, and each with more traces than the one before."""
    decide, told = SavedAgent.decide, []

    def watched(agent, *given):
        action, memory, decision = decide(agent, *given)
        decision = decision._replace(traces=decision.traces + len(told))
        if len(told) == 0:
            decision = decision._replace(estimate=np.full_like(decision.estimate, np.nan))
        if len(told) == STEPS:
            decision = decision._replace(
                estimate=np.full_like(decision.estimate, -1e6), traces=np.full_like(decision.traces, 10**6)
            )
        told.append(decision)
        return action, memory, decision

    monkeypatch.setattr(SavedAgent, "decide", watched)
    return told


def test_means_are_those_of_the_decisions_that_were_played(monkeypatch, shielded):
    told = watch(monkeypatch)
    answer = evaluate(load(shielded), episodes=4, envs=2, workers="inline").as_json()
    assert len(told) == 2 * STEPS + 1
    played = [one for step, one in enumerate(told) if step != STEPS]
    estimates, traces, overridden = (
        np.concatenate([getattr(one, name) for one in played]) for name in ("estimate", "traces", "overridden")
    )
    assert len(traces) == answer["steps"] == 4 * STEPS
    assert np.isnan(estimates).sum() == 2
    assert answer["estimate"] == pytest.approx(np.nanmean(estimates))
    assert answer["traces"] == pytest.approx(traces.mean())
    assert answer["override_rate"] == pytest.approx(overridden.mean())
    # Means say something only if there was something to add up.
    assert len(np.unique(estimates[2:])) > 1


def test_they_are_printed(run_ambs, shielded, tmp_path):
    code, out, _ = run_ambs("eval", shielded, "--episodes", "2", "--envs", "2", "--out", tmp_path / "told.json")
    assert code == 0
    answer = evaluate(load(shielded), episodes=2, envs=2, workers="inline").as_json()
    assert f"Its estimate was {answer['estimate']:.3f} on average." in out
    assert f"A decision took {answer['traces']:.3g} traces on average." in out


def test_a_guard_draws_no_traces_and_none_decides_nothing(shielded):
    guarded = evaluate(load(shielded, shield=GuardConfig("classical")), episodes=2, envs=2, workers="inline").as_json()
    assert 0 < guarded["estimate"] <= 1
    assert "traces" not in guarded
    alone = evaluate(load(shielded, shield=False), episodes=2, envs=2, workers="inline").as_json()
    assert not {"shield", "override_rate", "estimate", "traces"} & alone.keys()

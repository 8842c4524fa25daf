"""A run with a shield: what it leaves, that it resumes exactly, and what cannot be."""

import dataclasses
import json

import pytest

from ambs import AmbsError
from ambs.agents.shielding import ShieldConfig
from ambs.runs.dreamer import train
from ambs.runs.dreamer.config import cpu_learner, with_safety
from tests.runs.dreamer.small import NO_TIME, rows, small, weights

LEARNER = with_safety(
    dataclasses.replace(cpu_learner("debug"), behaviour=dataclasses.replace(cpu_learner().behaviour, horizon=5)), 8
)


def shielded(criterion="sound", **changes):
    return small(learner=LEARNER, shield=ShieldConfig(criterion=criterion), **{"steps": 220, **changes})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    return path, train(shielded(), path)


def test_what_it_leaves(whole):
    path, summary = whole
    assert (summary["agent"], summary["criterion"]) == ("ambs", "sound")
    assert 0 <= summary["override_rate"] <= 1
    assert json.loads((path / "config.json").read_text())["agent"] == "ambs"
    last = rows(path, "metrics")[-1]
    assert {
        "shield/override_rate",
        "shield/estimate",
        "shield/traces",
        "safe/return",
        "safety/violation",
    } <= last.keys()
    assert last["shield/traces"] >= 16
    assert 0 <= last["shield/estimate"] <= 1


def test_resumed_it_is_the_same_run(tmp_path, whole):
    other, before = whole
    train(shielded(steps=150), tmp_path)
    summary = train(shielded(), tmp_path)
    assert {**summary, **NO_TIME} == {**before, **NO_TIME}
    assert [row for row in rows(tmp_path, "metrics") if row["step"] != 150] == rows(other, "metrics")
    mine, theirs = weights(tmp_path), weights(other)
    assert mine.keys() == theirs.keys()
    assert all((mine[name] == theirs[name]).all() for name in mine)


def test_a_shield_that_begins_later(tmp_path):
    config = dataclasses.replace(shielded(), shield=ShieldConfig(after=100))
    train(config, tmp_path)
    assert [("shield/traces" in row) for row in rows(tmp_path, "metrics")] == [False, False, True, True]


def test_another_criterion_is_another_run(tmp_path, whole):
    path, _ = whole
    with pytest.raises(AmbsError, match=r"shield\.criterion"):
        train(shielded("paper"), path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ShieldConfig(criterion="magic"), "criterion is 'magic', and has to be one of sound, rollout, paper"),
        (lambda: ShieldConfig(test="D"), "test is 'D', and has to be one of auto, A, B, C, paper"),
        (lambda: ShieldConfig("paper", epsilon=0.2), "epsilon 0.2 is larger than Delta 0.1"),
        (lambda: small(shield=ShieldConfig()), "give the learner a SafetyConfig"),
        (
            lambda: small(learner=with_safety(cpu_learner("debug"), 10), shield=ShieldConfig()),
            "looks 10 steps ahead, and 15 are imagined",
        ),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(AmbsError, match=message):
        make()

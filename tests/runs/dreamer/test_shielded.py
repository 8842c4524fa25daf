"""A run with a shield: what it leaves, that it resumes exactly, and what cannot be."""

import contextlib
import dataclasses
import json
import resource
import shutil
import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, imagined_in
from ambs.runs.dreamer import train
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.runs.dreamer.decisions import Decisions
from ambs.runs.dreamer.latest import Latest, read
from ambs.runs.dreamer.overrides import EVERY, EVERY_NAME, FUTURES, NAME, Overrides, read_overridden, read_overrides
from ambs.runs.storage import latest
from ambs.types import Decision
from ambs.world_model.parts import parts_of
from tests.runs.dreamer.small import NO_TIME, Brief, enter, rows, small, weights

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
    for reading in read_overrides, read_overridden:
        for row, theirs in zip(reading(tmp_path), reading(other), strict=True):
            assert all(np.array_equal(row[name], theirs[name]) for name in theirs)


def test_what_is_kept_of_overrides(whole):
    path, _ = whole
    kept = read_overrides(path)
    steps = [int(row["step"]) for row in kept]
    assert steps == sorted(steps)
    assert min(np.diff(steps), default=EVERY) >= EVERY
    assert 64 <= steps[0] < steps[-1] < 220
    row, space = kept[-1], ambs.make("conveyor").observation_space
    assert row["seen."].shape == space.shape
    assert row["future."].shape[:2] == row["future.violation"].shape == (FUTURES, 5)
    assert row["future.actions"].shape == (FUTURES, 5, 5)
    # Every future begins with what was proposed.
    assert np.array_equal(row["future.actions"][:, 0], np.stack([row["proposed"]] * FUTURES))
    assert 0 <= row["low"] <= row["estimate"] <= row["high"] <= 1


def test_every_override_is_kept_without_futures(whole):
    path, _ = whole
    every, explained = read_overridden(path), read_overrides(path)
    assert len(every) == latest(path / "checkpoints")["extra"]["counters"]["overrides"] > len(explained) > 0
    places = {(int(row["step"]), int(row["env"])): row for row in every}
    assert len(places) == len(every)
    for row in explained:
        same = places[int(row["step"]), int(row["env"])]
        assert same.keys() == {name for name in row if not name.startswith("future.")}
        assert all(np.array_equal(row[name], same[name]) for name in same)


def test_of_all_overrides_the_latest_that_fit_are_kept(tmp_path):
    kept = Latest(tmp_path / NAME, 0, 100)
    for step in range(9):
        kept.append({"step": np.asarray(step), "seen.": np.zeros(3)})
    kept.save()
    # 32 bytes each.
    assert [int(row["step"]) for row in read(tmp_path / NAME)] == [6, 7, 8]
    assert Latest(tmp_path / NAME, 7, 100).step == 7
    assert Latest(tmp_path / "none", 7, 100).step is None


@pytest.mark.parametrize(
    ("criterion", "safe", "steps"),
    [("sound", False, 5), ("paper", False, 5), ("rollout", False, 9), ("recover", True, 9), ("either", True, 9)],
)
def test_kept_futures_are_those_that_the_shield_imagines(criterion, safe, steps):
    """Of a fresh learner whose task policy always goes up and whose safe policy always stays."""
    config = dataclasses.replace(LEARNER, safety=dataclasses.replace(LEARNER.safety, look_ahead=9))
    parts = parts_of(ambs.make("conveyor").observation_space)
    learner = Learner.create(parts, 5, config, discrete=True, key=jax.random.key(0))
    up, stay = 50 * np.eye(5)[[0, 4]]
    learner = eqx.tree_at(
        lambda me: (me.task.actor.net.out.bias, me.safety.policy.actor.net.out.bias),
        learner, (jnp.asarray(up), jnp.asarray(stay)),
    )  # fmt: skip
    policy, length = imagined_in(learner, ShieldConfig(criterion), 9)
    action = policy.sample(learner.model.rssm.initial(), key=jax.random.key(1))
    assert (int(action.argmax()), length) == (4 if safe else 0, steps)


def test_overrides_that_cannot_be_read_are_a_sentence_and_no_end_of_the_run(tmp_path):
    with pytest.raises(AmbsError, match="keeps no overrides"):
        read_overrides(tmp_path)
    (tmp_path / NAME).write_bytes(b"rubbish")
    with pytest.raises(AmbsError, match="is damaged"):
        read_overrides(tmp_path)
    Overrides(tmp_path, 0, None, 0).save()


def test_a_decision_that_is_not_played_counts_for_nothing(tmp_path, monkeypatch):
    """In episodes of one step every other one is not. All overrides are kept, and a row is as long as the run."""
    enter(monkeypatch, "brief", Brief)
    add, overridden = Overrides.add, []

    def watched(overrides, *given, key):
        (decision,) = (each for each in given if isinstance(each, Decision))
        overridden.append(np.asarray(decision.overridden))
        add(overrides, *given, key=key)

    monkeypatch.setattr(Overrides, "add", watched)
    monkeypatch.setattr("ambs.runs.dreamer.overrides.EVERY", 1)
    summary = train(shielded(env="brief", steps=120, log_every=1000), tmp_path)
    # When the random steps are over, so are the episodes.
    ended, played = np.stack(overridden[::2]), np.stack(overridden[1::2])
    assert ended.any(), "some of those that are not played would have been overridden"
    extra = latest(tmp_path / "checkpoints")["extra"]
    counters, decisions = extra["counters"], extra["decisions"]
    assert counters["shielded"] == decisions["count"] == played.size == 120 - 64
    assert counters["overrides"] == decisions["overrides"] == played.sum()
    assert summary["override_rate"] == played.mean()
    assert len(read_overrides(tmp_path)) == played.any(axis=1).sum()
    assert len(read_overridden(tmp_path)) == played.sum()


def test_sums_of_decisions_by_hand():
    estimate, traces = np.array([0.5, 0.25, np.nan]), np.array([16, 32, 64])
    three = Decision(np.zeros((3, 5)), np.array([True, True, False]), estimate, np.zeros(3), np.ones(3), traces)
    decisions = Decisions()
    decisions.add(three, np.array([True, False, True]))
    assert decisions == Decisions(count=2, overrides=1, traces=80, estimates=0.5, lost=1)


@contextlib.contextmanager
def no_file_larger_than(size):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_without_room_for_overrides_is_a_warning_and_said_once(tmp_path, whole):
    shutil.copy(whole[0] / NAME, tmp_path)
    before, kept = (tmp_path / NAME).read_bytes(), Overrides(tmp_path, 220, None, 0)
    with no_file_larger_than(len(before) // 2):
        with pytest.warns(UserWarning, match=r"overrides are not kept, for .*safetensors could not be written \("):
            kept.save()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kept.save()
    assert [file.name for file in tmp_path.iterdir()] == [NAME]
    assert (tmp_path / NAME).read_bytes() == before
    (tmp_path / NAME).unlink()
    kept.save()
    assert (tmp_path / NAME).read_bytes() == before, "there is room again"


def test_a_disk_that_is_full_is_a_sentence(tmp_path):
    """With room for neither: what ends the run is its checkpoint, and the one before is intact."""
    train(shielded(steps=110), tmp_path)
    (tmp_path / EVERY_NAME).unlink()
    size = (tmp_path / NAME).stat().st_size
    with (
        no_file_larger_than(size),
        pytest.warns(UserWarning, match="overrides are not kept"),
        pytest.raises(AmbsError, match="the checkpoint of step 200 could not be written.*the one before it is intact"),
    ):
        train(shielded(), tmp_path)
    assert latest(tmp_path / "checkpoints")["step"] == 110
    assert train(shielded(), tmp_path)["steps"] == 220


def test_a_shield_that_begins_later(tmp_path):
    config = dataclasses.replace(shielded(), shield=ShieldConfig(after=100))
    train(config, tmp_path)
    assert [("shield/traces" in row) for row in rows(tmp_path, "metrics")] == [False, False, True, True]


def test_another_criterion_is_another_run(tmp_path, whole):
    path, _ = whole
    with pytest.raises(AmbsError, match=r"shield\.criterion"):
        train(shielded("paper"), path)


def stay(observation):
    assert observation.shape == ambs.make("conveyor").observation_space.shape
    return 4


def sing(observation):
    return "la"


def waver(observation):
    return 2.7


def stray(observation):
    return np.int64(5)


def soar(observation):
    return float("inf")


def stumble(observation):
    return 1 // 0


def test_a_backup_policy_of_the_users_own(tmp_path):
    config = dataclasses.replace(shielded(), shield=ShieldConfig("sound", backup=f"{__name__}:stay"))
    train(config, tmp_path)
    kept = read_overrides(tmp_path)
    assert {int(row["played"].argmax()) for row in kept} == {4}
    agent = ambs.load(tmp_path)
    observation, _ = agent.make_env().reset(seed=3)
    action, _, decision = agent.decide(observation)
    assert action == decision.action
    assert action == 4 or not decision.overridden[0]


@pytest.mark.parametrize(
    ("backup", "message"),
    [
        (f"{__name__}:sing", r"returned 'la', which is no action of the environment: Discrete\(5\)"),
        (f"{__name__}:waver", r"returned 2.7, which is no action of the environment: Discrete\(5\)"),
        (f"{__name__}:stray", r"returned np.int64\(5\), which is no action"),
        (f"{__name__}:soar", "returned inf, which is no action"),
        (f"{__name__}:stumble", r"stumble failed with ZeroDivisionError\(.*mend it"),
        (f"{__name__}:dance", 'there is no backup policy "tests.runs.dreamer.test_shielded:dance"'),
        ("brake", '"brake", and has to be module:function'),
        (f"{__name__}:LEARNER", "has to be a function of an observation"),
    ],
)
def test_a_backup_policy_that_is_none(tmp_path, backup, message):
    config = dataclasses.replace(shielded(), shield=ShieldConfig("sound", backup=backup))
    with pytest.raises(AmbsError, match=message):
        train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists(), "nobody has to make room for the next try"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ShieldConfig(criterion="magic"), "criterion is 'magic', and has to be one of sound, rollout, paper"),
        (lambda: ShieldConfig(test="D"), "test is 'D', and has to be one of auto, sharp, A, B, C, paper"),
        (lambda: ShieldConfig("paper", epsilon=0.2), "epsilon 0.2 is larger than Delta 0.1"),
        (lambda: ShieldConfig("paper", traces=32), r"a violation probability of 0.1 pass with probability 0.0343, its"),
        (lambda: ShieldConfig(test="A", Delta=0.05), "of 0.05 pass with probability 0.217"),
        (lambda: ShieldConfig("recover", backup="a:b"), "imagines the backup policy"),
        (
            lambda: ShieldConfig(safe_actions="drawn"),
            "safe_actions is 'drawn', and has to be one of likeliest, sampled",
        ),
        (lambda: ShieldConfig("either", backup="a:b"), "criterion either imagines the backup policy"),
        (
            lambda: small(learner=with_safety(cpu_learner("debug"), entropy=-1.0), shield=ShieldConfig()),
            "the safe policy's entropy is -1",
        ),
        (lambda: small(shield=ShieldConfig()), "give the learner a SafetyConfig"),
        (
            lambda: small(learner=with_safety(cpu_learner("debug"), 10), shield=ShieldConfig("sound")),
            "looks 10 steps ahead, and 15 are imagined",
        ),
    ],
)
def test_what_cannot_be(make, message):
    with pytest.raises(AmbsError, match=message):
        make()

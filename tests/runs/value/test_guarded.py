"""A shield beside the environments, around an agent that knows nothing of it: in training, resumed, and evaluated."""

import json
import shutil
from dataclasses import asdict

import numpy as np
import pytest

from ambs import AmbsError
from ambs.agents.shielding import ShieldConfig
from ambs.commands.train import Train
from ambs.commands.train_ambs import AmbsOptions
from ambs.commands.train_dreamer import DreamerOptions
from ambs.commands.train_shield import GuardOptions, guarded, with_criterion
from ambs.commands.train_value import ValueOptions, configuration
from ambs.envs.guards import GuardConfig
from ambs.runs.dreamer.config import cpu_learner, with_safety
from ambs.runs.evaluate import evaluate, load
from ambs.runs.evaluate.film import replayed
from ambs.runs.evaluate.shields import chosen
from ambs.runs.value import train
from tests.envs.guards.asking import other_than_the_first, watch
from tests.envs.guards.worlds import CAUSEWAY
from tests.runs.dreamer.small import NO_TIME, rows, weights
from tests.runs.dreamer.small import small as dreaming
from tests.runs.value.small import small

EXACT = GuardConfig("classical")
ONE_AHEAD = GuardConfig("prescience", depth=1)
FEW = {"episodes": 3, "envs": 2, "workers": "inline"}


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("AMBS_CACHE", "")


def guarded_run(guard=EXACT, **changes):
    return small(env_options={"map": CAUSEWAY}, guard=guard, **changes)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("guarded") / "run"
    return path, train(guarded_run(), path)


def test_what_it_leaves(whole):
    path, summary = whole
    assert (summary["agent"], summary["shield"]) == ("rainbow", "classical")
    assert 0.05 < summary["override_rate"] < 1
    config = json.loads((path / "config.json").read_text())
    assert config["guard"] == asdict(EXACT)
    told = rows(path, "metrics")
    # From the first row on, where actions are random; and no row sums up another.
    assert all(row["shield/override_rate"] > 0 and row["shield/steps"] == 0 for row in told)
    assert len({row["shield/override_rate"] for row in told}) > 1


def test_resumed_it_is_the_same_run(tmp_path, whole):
    """The episodes under way are played again by the actions that the replay has: those that were played."""
    other, before = whole
    train(guarded_run(steps=170), tmp_path)
    summary = train(guarded_run(), tmp_path)
    assert {**summary, **NO_TIME} == {**before, **NO_TIME}
    assert [row for row in rows(tmp_path, "metrics") if row["step"] != 170] == rows(other, "metrics")
    mine, theirs = weights(tmp_path), weights(other)
    assert all((mine[name] == theirs[name]).all() for name in theirs)


@pytest.mark.parametrize("agent", ["rainbow", "iqn"])
def test_the_next_best_action_by_value(tmp_path, monkeypatch, agent):
    """In a whole run, resumed as if it had not been stopped, and in its evaluation."""
    config = guarded_run(ONE_AHEAD, agent=agent, steps=140)
    with monkeypatch.context() as patch:
        told = watch(patch)
        before = train(config, tmp_path / "whole")
    at_random = [asked for asked in told if asked.preferences is None]
    acted = told[len(at_random) :]
    assert len(at_random) == config.prefill // config.envs
    assert all(asked.preferences.shape == (2, 5) for asked in acted)
    assert other_than_the_first(at_random) == 0
    assert other_than_the_first(acted) > 3
    greedy = [np.array_equal(asked.preferences.argmax(axis=1), asked.proposed) for asked in acted]
    # Noisy weights explore, and the best by these is proposed; IQN proposes any now and then.
    assert all(greedy) if agent == "rainbow" else 0 < sum(greedy) < len(greedy)

    train(guarded_run(ONE_AHEAD, agent=agent, steps=90), tmp_path / "parts")
    summary = train(config, tmp_path / "parts")
    assert {**summary, **NO_TIME} == {**before, **NO_TIME}
    mine, theirs = weights(tmp_path / "parts"), weights(tmp_path / "whole")
    assert all((mine[name] == theirs[name]).all() for name in theirs)

    for deterministic in (False, True):
        with monkeypatch.context() as patch:
            told = watch(patch)
            evaluate(load(tmp_path / "whole"), **FEW, deterministic=deterministic)
        assert all(asked.preferences.shape == (2, 5) for asked in told)
        other_than_the_first(told)
        assert all((asked.preferences.argmax(axis=1) == asked.proposed).all() for asked in told if deterministic)


def test_another_shield_is_another_run(whole):
    path, _ = whole
    for guard, words in ((None, "guard.name was"), (GuardConfig("classical", Delta=0.2), "guard.Delta was 0.1")):
        with pytest.raises(AmbsError, match=words):
            train(guarded_run(guard=guard), path)


def test_evaluated_with_it_with_another_and_with_none(whole):
    path, _ = whole
    answers = {}
    for shield in (True, "none", "prescience"):
        evaluation = evaluate(load(path, shield=shield), **FEW)
        answers[shield] = evaluation.as_json()
        # The film shows what was played, not what was proposed.
        last = list(replayed(evaluation, 3))[-1]
        assert last.violations == answers[shield]["violations"]
    assert [answers[shield].get("shield") for shield in answers] == ["classical", None, "prescience"]
    assert [answers[shield]["shielded"] for shield in answers] == [True, False, True]
    assert "override_rate" not in answers["none"]
    assert answers[True]["simulator_steps_per_decision"] == 0
    assert answers["prescience"]["simulator_steps_per_decision"] >= 4
    assert answers["prescience"]["milliseconds_per_decision"] > 0
    assert answers["prescience"]["shield_options"]["depth"] == 5
    assert answers["none"]["violations"] > answers[True]["violations"]
    actions = [evaluate(load(path, shield=shield), **FEW).played[0].actions for shield in (True, "none")]
    assert not np.array_equal(*actions)


def test_evaluated_by_name_on_the_command_line(run_ambs, whole, tmp_path):
    run = shutil.copytree(whole[0], tmp_path / "run")
    for options in ((), ("--shield", "prescience", "--depth", "2"), ("--shield", "none")):
        code, out, err = run_ambs("eval", run, "--episodes", "2", "--envs", "2", *options)
        assert code == 0, err
        assert ("A decision took" in out) == ("none" not in options)
    names = {file.name for file in (run / "evaluations").iterdir()}
    assert names == {"300-1000.json", "300-1000-prescience-depth-2.json", "300-1000-without-shield.json"}
    for options, words in (
        (["--shield", "recover"], "the agent rainbow has learned none"),
        (["--shield", "armour"], "the shield is 'armour'"),
        (["--shield", "prescience", "--without-shield"], "contradict each other"),
        (["--shield", "classical", "--depth", "2"], "--depth is for the shield prescience"),
    ):
        code, _, err = run_ambs("eval", run, *options)
        assert code == 2
        assert words in err
    assert {file.name for file in (run / "evaluations").iterdir()} == names


def test_trained_by_name_on_the_command_line():
    command = Train("conveyor", agent="rainbow", formula="P>=0.95 [ G<=9 !acid ]", guard=GuardOptions("classical"))
    config = guarded(configuration(command, DreamerOptions(), ValueOptions()), command)
    assert (config.formula, config.guard) == ('!"acid"', GuardConfig("classical", Delta=0.05, look_ahead=9))
    command = Train("conveyor", agent="rainbow", guard=GuardOptions("prescience", depth=3))
    config = guarded(configuration(command, DreamerOptions(), ValueOptions()), command)
    assert (config.formula, config.guard) == (None, GuardConfig("prescience", depth=3))
    command = Train("conveyor", agent="rainbow", guard=GuardOptions("none"))
    assert guarded(config, command) is config
    assert with_criterion(AmbsOptions(), GuardOptions("latent")) == AmbsOptions(criterion="latent")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["CartPole-v1", "--agent", "rainbow", "--shield", "prescience"], "CartPole-v1 cannot be searched"),
        (["minatar-seaquest", "--agent", "iqn", "--shield", "classical"], "minatar-seaquest has no mdp()"),
        (["Pendulum-v1", "--agent", "dreamer", "--shield", "prescience"], "chooses among Discrete"),
        (["--agent", "iqn", "--shield", "classical", "--formula", "acid & !acid"], "no state satisfies"),
        (["--agent", "lag", "--shield", "latent"], "--shield latent imagines with a safe policy"),
        (["--agent", "dreamer", "--shield", "armour"], 'no shield "armour"'),
        (["--agent", "dreamer", "--shield", "classical", "--depth", "3"], "add --shield prescience"),
        (["--agent", "dreamer", "--shield", "prescience", "--tolerance", "0.2"], "--tolerance is an option of the"),
        (["--agent", "ambs", "--shield", "prescience"], "has a shield of its own"),
        (["--agent", "ambs", "--shield", "latent", "--criterion", "sound"], "which for ambs are the same"),
        (["--agent", "tabular", "--shield", "classical"], "--shield is an option of the agent dreamer"),
    ],
)
def test_what_cannot_be_leaves_nothing(run_ambs, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run_ambs("train", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_names_around_an_agent_with_a_shield_of_its_own():
    config = dreaming(learner=with_safety(cpu_learner("debug"), 20), shield=ShieldConfig("sound", Delta=0.05))
    assert [chosen(config, shield).name for shield in (True, False, "latent")] == ["sound", "none", "latent"]
    latent = chosen(config, "latent")
    assert (latent.shield.Delta, latent.guard) == (0.05, None)
    exact = chosen(config, "classical")
    assert (exact.shield, exact.guard.Delta, exact.guard.look_ahead) == (None, 0.05, 20)
    with pytest.raises(AmbsError, match="has a shield of its own"):
        dreaming(learner=config.learner, shield=config.shield, guard=GuardConfig())

"""Runs in environments of a user's own: trained in a process, evaluated, resumed; and options of the environment."""

import dataclasses
import json

import numpy as np
import pytest
from gymnasium import spaces

import ambs
from ambs.agents.player import ActionCodec
from ambs.envs.vector.actions import checked
from ambs.runs.dreamer import train
from ambs.runs.dreamer.saved import config_of
from ambs.runs.evaluate import evaluate
from ambs.runs.storage import read_config
from tests.runs.dreamer.small import FLAGS, poison, rows, small

POND = "tests.envs.foreign_worlds:Pond-labels-v0"


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("AMBS_CACHE", "")


@pytest.fixture(scope="module")
def pond(tmp_path_factory):
    """Dictionaries as observations and continuous actions, in a worker process; the formula and an option are ours."""
    path = tmp_path_factory.mktemp("pond") / "run"
    config = small(env=POND, env_options={"shore": 9.0}, formula="!deep", workers=1, steps=100)
    return path, config, train(config, path)


def losses(path):
    return [
        value for row in rows(path, "metrics") for name, value in row.items() if name.startswith(("loss/", "task/"))
    ]


def test_a_run_of_a_users_own_environment(pond):
    path, config, summary = pond
    assert (summary["env"], summary["steps"], summary["updates"]) == (POND, 100, (100 - 64) // 8)
    assert [row["length"] for row in rows(path, "scores")] == [20] * 4
    # About 10 steps of 1 into the deep, to the shore at 9; with the constructor's 3 it would be most of the steps.
    assert 10 < summary["violations"] < 60
    assert len(losses(path)) > 10
    assert np.isfinite(losses(path)).all()
    assert config_of(path) == config


def test_it_is_loaded_and_evaluated_in_the_same_environment(pond):
    agent = ambs.load(pond[0])
    env = agent.make_env()
    assert (env.unwrapped.shore, env.get_wrapper_attr("_costs").cost) == (9.0, 10.0)
    assert agent.make_env(shore=5.0).unwrapped.shore == 5.0
    observation, _ = env.reset(seed=3)
    action, _ = agent.predict(observation)
    assert env.action_space.contains(action)
    played = evaluate(agent, episodes=2, envs=2, workers=1).as_json()
    assert (played["env"], played["steps"]) == (POND, 40)


def test_it_goes_on_and_options_stay_as_they_were(run_ambs, pond):
    path = pond[0]
    flags = ["train", POND, *FLAGS, "--formula", "!deep", "--workers", "1", "--run", path, "--json"]
    for given, words in (
        (["--option", "shore=8"], "env_options.shore was 9.0 when the run"),
        ([], "env_options.shore was 9.0 when the run"),
        (["--option", "shore=9.0", "--option", "gives=[]"], "gives no labels"),
    ):
        code, _, err = run_ambs(*flags, "--steps", "140", *given)
        assert (code, words in err) == (2, True), err
    code, out, err = run_ambs(*flags, "--steps", "140", "--option", "shore=9.0")
    assert (code, json.loads(out)["steps"]) == (0, 140), err
    assert "goes on from step 100" in err


def test_without_labels_and_cost_it_is_said_that_nothing_can_be_violated(run_ambs, tmp_path):
    flags = ["--run", tmp_path / "run", "--steps", "80", "--json"]
    code, out, err = run_ambs("train", "tests.envs.foreign_worlds:Pond-nothing-v0", *FLAGS, *flags)
    assert (code, json.loads(out)["violations"]) == (0, 0)
    warned = [line for line in err.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    assert "gives neither labels nor cost, so nothing can be violated; see docs/your-own-environment.md" in warned[0]


def test_an_option_changes_what_is_observed(run_ambs, tmp_path):
    flags = [*FLAGS, "--run", tmp_path, "--steps", "72", "--option", "observation=image"]
    assert run_ambs("train", "conveyor", *flags)[0] == 0
    assert read_config(tmp_path)["env_options"] == {"observation": "image"}
    assert np.isfinite(losses(tmp_path)).all()
    agent = ambs.load(tmp_path)
    assert agent.observation_space == ambs.make("conveyor", observation="image").observation_space


@pytest.mark.parametrize("options", [{"x": (1, 2)}, {"x": {1: 2}}, {"x": float("inf")}, {"x": object()}, {"x": {1}}])
def test_options_have_to_come_back_as_they_were(options):
    with pytest.raises(ambs.AmbsError, match="the option 'x' of the environment is .*, and has to be what JSON can"):
        small(env_options=options)


@pytest.mark.parametrize(
    ("part", "sentence"),
    [
        ("task.actor", "the policy's action has not been a finite number since about step 66, .* of step 66;"),
        ("model.reward", "loss/reward has not been a finite number since about step 72, .* of step 66;"),
    ],
)
def test_actions_that_are_no_numbers_are_not_the_environments_fault(tmp_path, part, sentence):
    config = small(env=POND, formula="!deep", log_every=1000, checkpoint_every=1000)
    train(dataclasses.replace(config, steps=66), tmp_path)
    poison(tmp_path, f"learner'].{part}")
    with pytest.raises(ambs.AmbsError, match=f"^{sentence} run the same command with a lower --learning-rate"):
        train(config, tmp_path)


@pytest.mark.parametrize(
    "space",
    [spaces.Box(0, 5, (2,), np.int64), spaces.Box(0, 1, (2,), np.bool_), spaces.Box(0, np.inf, (2,)),
     spaces.MultiDiscrete([2, 3])],
)  # fmt: skip
def test_actions_that_no_policy_has(space):
    with pytest.raises(ambs.AmbsError, match="^the actions are .* have to be Discrete or a Box of floats with finite"):
        ActionCodec(space)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_actions_of_floats_of_any_width(dtype):
    space = spaces.Box(dtype(0), dtype(4), (2,), dtype)
    np.testing.assert_array_equal(checked(ActionCodec(space).decode(np.array([[-1.0, 0.5]])), space, 1), [[0, 3]])

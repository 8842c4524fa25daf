"""The conveyor world keeps Gymnasium's contract, and its own: labels, cost, seeds, saving and restoring."""

import copy
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ambs
from ambs import AmbsError
from ambs.envs import Conveyor, register
from ambs.envs.conveyor_specs import SPECS

register()
RIGHT = 1


def rollout(env, steps=60, seed=3):
    """What a fixed sequence of actions leads to."""
    actions = np.random.default_rng(seed).integers(0, 5, steps)
    return [(info["state"], reward, info["cost"]) for _, reward, _, _, info in map(env.step, actions)]


@pytest.mark.parametrize("observation", ["onehot", "image", "rgb", "state"])
@pytest.mark.parametrize("id", sorted(spec.id for spec in SPECS))
def test_gymnasium_finds_nothing_to_complain_about(id, observation):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(id, observation=observation, render_mode="rgb_array")
        check_env(env.unwrapped)


def test_registering_twice_is_silent_and_the_module_prefix_works():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
        env = gymnasium.make("ambs:Conveyor-v0", observation="image")
    assert env.observation_space.shape == (16, 16, 3)


def test_an_episode_is_truncated_and_never_terminated():
    env = gymnasium.make("Conveyor-v0")
    env.reset(seed=0)
    ends = [env.step(0)[2:4] for _ in range(100)]
    assert ends == [(False, False)] * 99 + [(False, True)]


def test_goal_pays_and_acid_costs_and_both_lead_back_to_the_start():
    env = Conveyor("AS>G", slip=0)
    _, info = env.reset()
    assert info == {"labels": {"acid": False, "goal": False, "belt": False}, "cost": 0.0, "state": 1}
    seen = [env.step(action) for action in (1, 3, 4, 3, 1)]
    assert [info["state"] for *_, info in seen] == [2, 3, 1, 0, 1]
    assert [reward for _, reward, *_ in seen] == [0, 1, 0, 0, 0]
    assert [info["cost"] for *_, info in seen] == [0, 0, 0, 10, 0]
    assert [[name for name, true in info["labels"].items() if true] for *_, info in seen] == [
        ["belt"], ["goal"], [], ["acid"], [],
    ]  # fmt: skip
    for *_, info in seen:
        assert all(type(value) is bool for value in info["labels"].values())
        assert type(info["cost"]) is float


def test_the_formula_and_c_decide_the_cost():
    env = Conveyor("S>G", slip=0, formula="!belt & (goal => !acid)", cost=2.5)
    env.reset()
    assert [env.step(RIGHT)[-1]["cost"] for _ in range(3)] == [2.5, 0, 0]
    env = Conveyor("S>G", slip=0, formula=ambs.parse("goal"))
    assert env.reset()[1]["cost"] == 10


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"formula": "!lava"}, 'no atom "lava"; the atoms here are: "acid", "belt", "goal"'),
        ({"formula": "!acids"}, 'did you mean "acid"'),
        ({"formula": "P>=0.9 [ G<=30 !acid ]"}, "cannot be read off the labels of one state"),
        ({"formula": "!acid &"}, "column"),
        ({"cost": 0}, "cost is 0"),
        ({"render_mode": "human"}, "render_mode"),
        ({"map": "big"}, "the maps are small, figure1, long-belt, hard"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(AmbsError, match=message):
        Conveyor(**arguments)


@pytest.mark.parametrize("action", [-1, 5, np.int64(7)])
def test_an_action_that_does_not_exist_is_refused(action):
    env = Conveyor()
    env.reset(seed=0)
    with pytest.raises(AmbsError, match="has to be 0 to 4: up, right, down, left, stay"):
        env.step(action)


def test_one_seed_one_history():
    env = Conveyor(slip=0.3)
    env.reset(seed=5)
    first = rollout(env)
    env.reset(seed=5)
    assert rollout(env) == first
    env.reset(seed=6)
    assert rollout(env) != first
    # The global generator has no part in it.
    np.random.seed(0)  # noqa: NPY002
    env.reset(seed=5)
    assert rollout(env) == first


def test_restored_the_same_future_follows():
    env = gymnasium.make("ConveyorFigure1-v0", slip=0.4, observation="rgb", render_mode="rgb_array")
    env.reset(seed=11)
    rollout(env, 7)
    saved = env.unwrapped.get_state()
    picture = env.render()
    first = rollout(env, 40)
    for _ in range(2):
        env.unwrapped.set_state(saved)
        np.testing.assert_array_equal(env.render(), picture)
        assert rollout(env, 40) == first
    # Into another world of the same map.
    other = Conveyor("figure1", slip=0.4)
    other.set_state(copy.deepcopy(saved))
    assert rollout(other, 40) == first
    with pytest.raises(AmbsError, match="of another map; this one has 0 to 2"):
        Conveyor("S.G").set_state(saved)


def test_vector_environments_stack_labels_and_cost():
    envs = gymnasium.make_vec("Conveyor-v0", num_envs=3, vectorization_mode="sync", observation="image", map="AS.G")
    observations, info = envs.reset(seed=0)
    assert observations.shape == (3, 16, 16, 3)
    _, _, _, _, info = envs.step(np.array([3, 4, 4]))
    acid = info["labels"]["acid"]
    assert acid.shape == (3,)
    assert acid.dtype == bool
    np.testing.assert_array_equal(info["cost"], np.where(acid, 10.0, 0.0))
    np.testing.assert_array_equal(info["state"], np.where(acid, 0, 1))


def test_frames_are_fit_for_a_video():
    env = gymnasium.make("ConveyorHard-v0", render_mode="rgb_array")
    assert env.metadata["render_fps"] > 0
    env = gymnasium.wrappers.RenderCollection(env)
    env.reset(seed=0)
    for _ in range(5):
        env.step(RIGHT)
    frames = np.stack(env.render())
    assert frames.shape == (6, 600, 640, 3)  # even, as encoders want it
    assert frames.dtype == np.uint8
    assert np.all(np.abs(np.diff(frames.astype(int), axis=0)).reshape(5, -1).max(axis=1) > 100)


def test_text_shows_the_map_with_the_robot():
    env = Conveyor("S.G\n>A#", slip=0, render_mode="ansi")
    env.reset()
    assert env.render() == "R.G\n>A#"
    env.step(RIGHT)
    assert env.render() == "SRG\n>A#"

"""MinAtar's games as Gymnasium environments: the same games, repeatable, to be saved, seen and asked for."""

import copy
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ambs
from ambs import AmbsError
from ambs.envs.minatar.game import MinAtarGame
from ambs.envs.minatar.rules import Dice
from ambs.envs.minatar.specs import SPECS

GAMES = [spec.kwargs["game"] for spec in SPECS]
every_game = pytest.mark.parametrize("game", GAMES)
every_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)


def play(env, actions):
    """What each step gives, on into the next episodes."""
    steps = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        steps.append(
            (observation.tobytes(), reward, terminated, truncated, tuple(info["labels"].items()), info["cost"])
        )
        if terminated or truncated:
            steps.append(env.reset()[0].tobytes())
    return steps


def random_actions(count, seed=0, actions=6):
    return np.random.default_rng(seed).integers(actions, size=count)


@every_spec
def test_gymnasium_finds_nothing_wrong(spec):
    env = gymnasium.make(f"ambs:{spec.id}", render_mode="rgb_array")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)
    assert env.spec.max_episode_steps == spec.max_episode_steps
    assert ambs.make(spec.name).unwrapped.name == spec.kwargs["game"]


@every_spec
def test_what_the_catalogue_says_is_so(spec):
    env = MinAtarGame(**spec.kwargs)
    _, info = env.reset(seed=0)
    assert info["labels"] == dict.fromkeys(spec.atoms, False)
    assert list(info["labels"]) == list(spec.atoms) == list(env.step(0)[-1]["labels"])
    assert spec.observation == f"10×10 grid, {env.observation_space.shape[-1]} channels of zeros and ones"
    assert spec.actions == f"{env.action_space.n} discrete"


@every_game
def test_it_is_minatars_own_game(game):
    """Step by step what the package plays, given the same dice and nothing carried over from the episode before."""
    minatar = pytest.importorskip("minatar")
    theirs = minatar.Environment(game.replace("-", "_"))
    ours = MinAtarGame(game)
    theirs.random = theirs.env.random = Dice(gymnasium.utils.seeding.np_random(11)[0])
    theirs.reset()
    observation, _ = ours.reset(seed=11)
    np.testing.assert_array_equal(observation, theirs.state())
    rewards = 0
    for action in random_actions(3000):
        observation, reward, terminated, truncated, _ = ours.step(action)
        assert (reward, terminated or truncated) == theirs.act(action)
        np.testing.assert_array_equal(observation, theirs.state())
        rewards += reward
        if terminated or truncated:
            ours.reset()
            theirs.reset()
            theirs.last_action = 0
    assert rewards > 0 or game == "freeway"


@every_game
def test_a_seed_decides_everything(game):
    actions = random_actions(1500)
    first, second, other = MinAtarGame(game), MinAtarGame(game), MinAtarGame(game)
    first.reset(seed=5)
    # What was played before a seeded reset leaves no trace.
    second.reset(seed=9)
    play(second, random_actions(77, seed=1))
    second.reset(seed=5)
    other.reset(seed=6)
    trajectory = play(first, actions)
    assert trajectory == play(second, actions)
    assert trajectory != play(other, actions)


@every_game
def test_several_processes_play_what_one_does(game):
    actions = random_actions(120).reshape(40, 3)
    kinds = ("sync", "async") if game == "seaquest" else ("sync",)
    spec = next(spec for spec in SPECS if spec.kwargs["game"] == game)
    singly = [play_vector_alone(spec, 20 + index, actions[:, index]) for index in range(3)]
    for kind in kinds:
        together = gymnasium.make_vec(f"ambs:{spec.id}", num_envs=3, vectorization_mode=kind)
        together.reset(seed=20)
        for step, row in enumerate(actions):
            observations, rewards, _, _, info = together.step(row)
            for index in range(3):
                observation, reward, cost = singly[index][step]
                np.testing.assert_array_equal(observations[index], observation)
                assert (rewards[index], info["cost"][index]) == (reward, cost)
        together.close()


def play_vector_alone(spec, seed, actions):
    """One environment with the autoreset of vector environments: the step after the last only resets."""
    env = gymnasium.make(f"ambs:{spec.id}")
    env.reset(seed=seed)
    steps, over = [], False
    for action in actions:
        if over:
            observation, info = env.reset()
            steps.append((observation, 0.0, info["cost"]))
            over = False
            continue
        observation, reward, terminated, truncated, info = env.step(action)
        steps.append((observation, reward, info["cost"]))
        over = terminated or truncated
    return steps


@every_game
def test_save_and_restore_replays(game):
    env = MinAtarGame(game)
    env.reset(seed=3)
    actions = random_actions(600, seed=2)
    for start in (0, 13, 37):
        play(env, random_actions(start))
        saved = env.get_state()
        first = play(env, actions)
        env.set_state(saved)
        assert play(env, actions) == first
        elsewhere = MinAtarGame(game)
        elsewhere.reset(seed=99)
        elsewhere.set_state(saved)
        assert play(elsewhere, actions) == first
        env.set_state(saved)
        twin = copy.deepcopy(env)
        assert play(twin, actions) == play(env, actions) == first


def test_the_action_that_may_stick_is_saved():
    env = MinAtarGame("asterix", sticky=1.0)
    env.reset(seed=0)
    assert env._game.player_x == 5
    env.sticky = 0.0
    env.step(1)
    env.sticky = 1.0
    saved = env.get_state()
    env.reset()
    env.set_state(saved)
    env.step(3)
    assert env._game.player_x == 3


def test_actions_stick_with_their_probability_and_not_across_episodes():
    env = MinAtarGame("asterix", difficulty_ramping=False)
    env.reset(seed=0)
    repeated = 0
    for step in range(4000):
        # Left at odd steps, nothing at even ones, from the middle: whoever moved at an even step repeated.
        env._game.player_x, env._game.entities = 5, [None] * 8
        env.step(step % 2)
        repeated += step % 2 == 0 and env._game.player_x == 4
    assert abs(repeated / 2000 - 0.1) < 0.025
    always = MinAtarGame("asterix", sticky=1.0)
    always.reset(seed=0)
    always._last_action = 1
    always.reset()
    always.step(1)
    assert always._game.player_x == 5


def test_fewer_actions():
    env = MinAtarGame("freeway", full_actions=False, sticky=0.0)
    env.reset(seed=0)
    assert env.action_space.n == 3
    for _ in range(4):
        env.step(1)
    assert env._game.pos == 8


def test_freeway_is_over_by_time_alone():
    env = MinAtarGame("freeway")
    env.reset(seed=0)
    steps = 0
    over = False
    while not over:
        _, _, terminated, over, _ = env.step(0)
        steps += 1
        assert not terminated
    assert steps == 2501


def test_a_prescience_shield_can_ask():
    env = MinAtarGame("seaquest", sticky=0.0)
    env.reset(seed=0)
    shield = ambs.PrescienceShield(env, range(6), depth=2)
    env.step(4)
    before = env.get_state()
    assert shield(None, 2).overridden
    assert not shield(None, 4).overridden
    assert env.get_state() == before
    assert env.safe_step(2) == (False, True)


@every_game
def test_pictures_show_what_is_there(game):
    env = MinAtarGame(game, render_mode="rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (320, 320, 3)
    env.step(2)
    for action in random_actions(12):
        if env._game.terminal:
            break
        env.step(action)
    observation, picture = env._observe(), env.render()
    empty = observation.sum(axis=-1) == 0
    colours = picture.reshape(10, 32, 10, 32, 3).max(axis=(1, 3, 4))
    assert (colours[empty] < 50).all()
    assert (colours[~empty] > 60).all()
    assert (picture != first).any()


def test_another_formula_over_the_same_atoms():
    env = MinAtarGame("seaquest", formula="!surface", cost=3.0, sticky=0.0)
    env.reset(seed=0)
    assert env.step(4)[-1]["cost"] == 0.0
    env._game.diver_count = 2
    assert env.step(2)[-1]["cost"] == 3.0


def test_what_cannot_work_is_said():
    with pytest.raises(AmbsError, match='no atom "hot" .did you mean "hit"..; the atoms here are: "hit", "invaded"'):
        MinAtarGame("space-invaders", formula="!hot")
    with pytest.raises(AmbsError, match="cannot be read off the labels"):
        MinAtarGame("freeway", formula="G<=3 !hit")
    with pytest.raises(AmbsError, match='game is "pong", and has to be one of seaquest'):
        MinAtarGame("pong")
    with pytest.raises(AmbsError, match="render_mode"):
        MinAtarGame("freeway", render_mode="human")
    with pytest.raises(AmbsError, match="sticky is 2"):
        MinAtarGame("freeway", sticky=2)
    env = MinAtarGame("breakout")
    env.reset(seed=0)
    for action in (6, -1, 1.5, None, np.array([1])):
        with pytest.raises(AmbsError, match="the action is .*, and has to be a whole number from 0 to 5"):
            env.step(action)
    env.step(np.array(1))
    other = MinAtarGame("freeway")
    other.reset(seed=0)
    with pytest.raises(AmbsError, match="saved state is one of freeway"):
        env.set_state(other.get_state())
    while not env.step(0)[2]:
        pass
    with pytest.raises(AmbsError, match="the episode is over"):
        env.step(0)


def test_playing_imports_no_plotting():
    """The package would import matplotlib and seaborn in every worker."""
    code = (
        "import sys, ambs; before = set(sys.modules)\n"
        "from ambs.envs.minatar.game import MinAtarGame\n"
        "MinAtarGame('seaquest').reset(seed=0)\n"
        "assert not {'seaborn', 'matplotlib.pyplot', 'minatar'} & (set(sys.modules) - before), 'imported'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

"""The paper's protocol, and that a game can be repeated and gone back to."""

import pickle

import cv2
import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import ambs
from ambs import AmbsError
from ambs.envs.atari import GAMES, SPECS
from ambs.envs.atari.game import AtariGame
from tests.envs.atari.play import DOWN, NOOP, UP, frame_by_frame, hold, poke, when

FIVE = ("assault", "double-dunk", "enduro", "kung-fu-master", "seaquest")


def trajectory(env: AtariGame, steps: int, seed: int = 0) -> list[tuple]:
    """What random actions lead to; goes on into the next episodes."""
    generator = np.random.default_rng(seed)
    happened = []
    for _ in range(steps):
        observation, reward, terminated, truncated, info = env.step(int(generator.integers(env.action_space.n)))
        happened.append((observation.tobytes(), reward, terminated, truncated, info))
        if terminated or truncated:
            observation, info = env.reset()
            happened.append((observation.tobytes(), info))
    return happened


@pytest.mark.parametrize("name", FIVE)
def test_gymnasium_has_nothing_to_say_against_it(name):
    check_env(AtariGame(name, render_mode="rgb_array"), skip_render_check=True)


def test_observation_actions_and_screen():
    env = AtariGame("enduro", render_mode="rgb_array")
    observation, info = env.reset(seed=0)
    assert (observation.shape, observation.dtype, env.action_space.n) == ((64, 64, 3), np.uint8, 18)
    assert env.render().shape == (210, 160, 3)
    assert info == {"labels": {"crash-car": False}, "cost": 0.0}
    assert AtariGame("enduro", full_actions=False, size=84).observation_space.shape == (84, 84, 3)
    assert AtariGame("enduro", full_actions=False).action_space.n == 9


def test_the_fewer_actions_are_those_of_the_game():
    """Enduro's second of nine is FIRE, its third RIGHT; among all 18 they are numbers 1 and 3."""
    few, all_18 = frame_by_frame("enduro", full_actions=False), frame_by_frame("enduro")
    hold(few, 2, 60)
    hold(all_18, 3, 60)
    np.testing.assert_array_equal(few.ale.getRAM(), all_18.ale.getRAM())


def test_the_observation_is_the_brighter_of_the_last_two_of_four_frames():
    env = AtariGame("assault", sticky=0, noops=0)
    slow = frame_by_frame("assault", render_mode="rgb_array")
    env.reset(seed=0)
    differ = 0
    for _ in range(30):
        observation, *_ = env.step(UP)
        screens = []
        for _ in range(4):
            slow.step(UP)
            screens.append(slow.render())
        pooled = np.maximum(screens[2], screens[3])
        np.testing.assert_array_equal(observation, cv2.resize(pooled, (64, 64), interpolation=cv2.INTER_AREA))
        differ += not np.array_equal(pooled, screens[3])
    assert differ > 0


def test_a_step_is_the_sum_of_its_frames_and_costs_once():
    """Without stickiness four frames one by one are one step: any label, the summed reward, one cost."""
    env = AtariGame("kung-fu-master", sticky=0, noops=0, cost=7.0)
    slow = frame_by_frame("kung-fu-master", cost=7.0)
    env.reset(seed=0)
    several = 0
    for step in range(400):
        action = (step // 5) % 18
        _, reward, _, _, info = env.step(action)
        frames = [slow.step(action) for _ in range(4)]
        assert reward == sum(frame[1] for frame in frames)
        for atom in info["labels"]:
            assert info["labels"][atom] == any(frame[4]["labels"][atom] for frame in frames)
        costs = [frame[4]["cost"] for frame in frames]
        assert info["cost"] == max(costs)
        several += sum(cost > 0 for cost in costs) > 1 or any(costs[:3])
    assert several > 0


def test_the_formula_is_judged_on_each_frame_and_not_on_the_step():
    """At the end of an ascent with a diver, some frame has `surface`, and the first frame of the step has not: never
    surfacing would fail on any frame, and surfacing on every frame holds on none."""
    env = AtariGame("seaquest", formula='"surface"', sticky=0, noops=0)
    env.reset(seed=0)
    for action, steps in ((NOOP, 34), (DOWN, 10)):
        for _ in range(steps):
            env.step(action)
    infos = [env.step(UP)[4] for _ in range(12)]
    assert any(info["labels"]["surface"] for info in infos)
    assert all(info["cost"] == 10.0 for info in infos)


@pytest.mark.parametrize(("sticky", "low", "high"), [(0.0, 0, 0), (0.25, 0.22, 0.28), (1.0, 1, 1)])
def test_every_frame_is_sticky_with_its_probability(sticky, low, high):
    """Alternating between two actions, a frame was sticky if the other one stayed in force."""
    env = frame_by_frame("enduro", sticky=sticky)
    repeated = []
    for step in range(2000):
        before, action = env.get_state().held, 1 + step % 2
        env.step(action)
        if before != action:
            repeated.append(env.get_state().held == before)
    assert len(repeated) > 1000
    assert low <= np.mean(repeated) <= high


def test_stickiness_is_drawn_anew_on_every_frame_of_a_step():
    """Four frames as one step, and as four steps of one, with the same dice: the same game."""
    together, apart = (AtariGame("seaquest", sticky=0.5, noops=0, frame_skip=skip, size=8) for skip in (4, 1))
    for env in (together, apart):
        env.reset(seed=3)
    generator = np.random.default_rng(0)
    for _ in range(120):
        action = int(generator.integers(18))
        together.step(action)
        for _ in range(4):
            apart.step(action)
        assert together.get_state().held == apart.get_state().held
        np.testing.assert_array_equal(together.ale.getRAM(), apart.ale.getRAM())


def test_a_search_may_run_past_the_end_of_the_game_and_come_back():
    env = AtariGame("assault", size=8)
    env.reset(seed=0)
    before = env.get_state()
    over = False
    while not over:
        _, over = env.safe_step(0)
    env.set_state(before)
    env.step(0)


def test_up_to_30_frames_without_action_after_a_reset():
    """The emulator's count of frames tells how many there were; numbers from 0 to 30 come up."""
    env = AtariGame("seaquest", size=8)
    start = frame_by_frame("seaquest").ale.getEpisodeFrameNumber()
    env.reset(seed=0)
    counts = []
    for _ in range(250):
        env.reset()
        counts.append(env.ale.getEpisodeFrameNumber() - start)
    assert (min(counts), max(counts)) == (0, 30)
    assert 13 < np.mean(counts) < 17


def test_an_episode_is_truncated_after_so_many_frames():
    env = AtariGame("seaquest", max_frames=40, size=8)
    env.reset(seed=0)
    ends = [env.step(NOOP)[2:4] for _ in range(10)]
    assert ends == [(False, False)] * 9 + [(False, True)]
    env.reset()
    assert env.step(NOOP)[3] is False


def test_it_terminates_with_the_game_and_not_with_a_life():
    env = AtariGame("seaquest", size=8)
    env.reset(seed=0)
    costs = 0
    terminated = False
    while not terminated:
        *_, terminated, _, info = env.step(int(env.np_random.integers(18)))
        costs += info["cost"] > 0
        assert set(info) == {"labels", "cost"}
    assert costs == 4
    with pytest.raises(AmbsError, match="the game is over.*call reset"):
        env.step(NOOP)


@pytest.mark.parametrize("name", FIVE)
def test_the_same_seed_makes_the_same_trajectory_and_another_seed_another(name):
    def run(env, seed):
        env.reset(seed=seed)
        return trajectory(env, 130)

    env = AtariGame(name)
    first = run(env, 3)
    # Some games carry memory over into the next episode; a seed starts afresh nevertheless.
    assert run(env, 3) == first
    assert run(AtariGame(name), 3) == first
    assert run(env, 4) != first


@pytest.mark.parametrize("name", ["assault", "kung-fu-master", "seaquest"])
def test_going_back_repeats_everything_labels_costs_and_the_next_episode(name):
    env = AtariGame(name, render_mode="rgb_array", max_frames=1200)
    env.reset(seed=0)
    trajectory(env, 100)
    saved, screen = env.get_state(), env.render()
    first = trajectory(env, 300, seed=1)
    assert any(isinstance(entry[-1], dict) and entry[-1]["cost"] > 0 for entry in first)
    assert any(len(entry) == 2 for entry in first), "an episode should have ended on the way"
    env.set_state(saved)
    np.testing.assert_array_equal(env.render(), screen)
    assert trajectory(env, 300, seed=1) == first
    # Another copy of the game, from a snapshot that has been written down, goes on in the same way.
    other = AtariGame(name, render_mode="rgb_array", max_frames=1200)
    other.reset(seed=99)
    other.set_state(pickle.loads(pickle.dumps(saved)))
    assert trajectory(other, 300, seed=1) == first


def test_going_back_into_the_middle_of_an_event_labels_it_again_and_only_then():
    """The labeller's memory is of the moment too: an onset seen before is seen again, one that is over is not."""
    env = frame_by_frame("seaquest")
    hold(env, NOOP, 135)
    hold(env, DOWN, 40)
    states, surfaced = [], []
    for _ in range(60):
        states.append(env.get_state())
        surfaced.append(env.step(UP)[4]["labels"]["surface"])
    event = surfaced.index(True)
    for start in (event - 1, event, event + 1):
        env.set_state(states[start])
        assert [env.step(UP)[4]["labels"]["surface"] for _ in range(4)] == surfaced[start : start + 4]


def test_the_action_in_force_is_part_of_the_state():
    env = frame_by_frame("seaquest", sticky=1.0)
    hold(env, NOOP, 140)
    state = env.get_state()
    env.set_state(ambs.envs.atari.snapshot.Snapshot(**{**vars(state), "held": DOWN}))
    hold(env, UP, 10)
    assert env.ale.getRAM()[97] == 23


def test_labels_begin_anew_with_an_episode():
    """Fewer lives than the last episode had at its end are no death: the frame before the first one does not count."""
    env = frame_by_frame("breakout")
    poke(env, r57=9)
    hold(env, NOOP, 1)
    assert env.ale.lives() == 9
    _, info = env.reset()
    assert env.ale.lives() == 5
    assert not info["labels"]["death"]
    assert not when(hold(env, NOOP, 5), "death")


def test_safe_step_is_step_without_the_picture():
    env = AtariGame("assault", size=8)
    env.reset(seed=0)
    trajectory(env, 50)
    saved = env.get_state()
    generator = np.random.default_rng(5)
    actions = generator.integers(18, size=150).tolist()
    told = []
    for action in actions:
        *_, terminated, truncated, info = env.step(action)
        told.append((info["cost"] == 0, terminated or truncated))
        if terminated:
            break
    env.set_state(saved)
    assert [env.safe_step(action) for action in actions[: len(told)]] == told
    assert (False, False) in told


def test_a_formula_of_your_own():
    env = AtariGame("seaquest", formula='!"surface"', cost=3.0, sticky=0, noops=0)
    env.reset(seed=0)
    infos = [env.step(action)[4] for action in [NOOP] * 34 + [DOWN] * 10 + [UP] * 12]
    assert {(info["labels"]["surface"], info["cost"]) for info in infos} == {(False, 0.0), (True, 3.0)}


def test_the_catalogue_entries_say_what_the_games_are():
    specs = {spec.name: spec for spec in SPECS}
    assert list(specs)[:5] == list(FIVE)
    assert len(specs) == len(GAMES) == 31
    assert specs["kung-fu-master"].id == "KungFuMaster-v0"
    assert specs["seaquest"].formula == '("surface" => "diver") & !"hit" & !"out-of-oxygen"'
    for game in GAMES.values():
        assert list(game.labeller.atoms) == list(game.labeller.condition)
        assert ambs.parse(game.formula).atoms <= set(game.labeller.atoms)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"game": "seequest"}, 'no labelled Atari game "seequest"; did you mean seaquest'),
        ({"game": "kung_fu_master"}, "did you mean kung-fu-master"),
        ({"game": "xyzzy"}, "those with labels are: assault, double-dunk"),
        ({"game": None}, 'no labelled Atari game "None"'),
        ({"formula": '!"overheat"'}, 'no atom "overheat".*the atoms here are: "diver", "hit"'),
        ({"formula": "P>=0.9 [ G<=30 !hit ]"}, "cannot be read off the labels of one state"),
        ({"cost": 0.0}, "cost is 0"),
        ({"sticky": 1.5}, "sticky is 1.5"),
        ({"frame_skip": 0}, "frame_skip is 0"),
        ({"noops": -1}, "noops is -1"),
        ({"size": 0}, "size is 0"),
        ({"max_frames": 0}, "max_frames is 0"),
        ({"render_mode": "human"}, 'render_mode is "human"'),
    ],
)
def test_what_cannot_work_is_said(arguments, sentence):
    with pytest.raises(AmbsError, match=sentence):
        AtariGame(**{"game": "seaquest", **arguments})


def test_what_cannot_be_done_is_said():
    env = AtariGame("seaquest")
    with pytest.raises(AmbsError, match="has not begun; call reset"):
        env.step(0)
    env.reset(seed=0)
    with pytest.raises(AmbsError, match="the action is 18, and has to be 0 to 17"):
        env.step(18)
    other = AtariGame("assault")
    other.reset(seed=0)
    with pytest.raises(AmbsError, match="one of assault, and this game is seaquest"):
        env.set_state(other.get_state())


def test_gymnasium_makes_it_alone_and_several_at_once():
    env = gymnasium.make("ambs:KungFuMaster-v0", formula='!"loose-life"')
    assert env.unwrapped.game.name == "kung-fu-master"
    several = gymnasium.make_vec("ambs:Seaquest-v0", num_envs=2, vectorization_mode="sync")
    alone = ambs.make("seaquest")
    several.reset(seed=[5, 6])
    alone.reset(seed=6)
    for action in (1, 5, 5, 2):
        observations, _, _, _, infos = several.step(np.array([0, action]))
        observation, *_ = alone.step(action)
        np.testing.assert_array_equal(observations[1], observation)
        assert infos["labels"]["surface"].shape == infos["cost"].shape == (2,)
    several.close()


def test_a_recorder_gets_the_whole_screen():
    env = gymnasium.wrappers.RenderCollection(ambs.make("assault", render_mode="rgb_array"))
    env.reset(seed=0)
    env.step(1)
    first, second = env.render()
    assert first.shape == second.shape == (210, 160, 3)

"""The rest of the labelled games: the event of each atom, brought about on the real game, and one that is not it."""

import itertools

import pytest

from ambs.envs.atari import GAMES
from tests.envs.atari.play import (
    ALL,
    DOWN,
    NOOP,
    RIGHT,
    UP,
    chosen,
    costly,
    frame_by_frame,
    hold,
    lost,
    poke,
    randomly,
    when,
)

ONLY_DEATH = [name for name, game in GAMES.items() if list(game.labeller.atoms) == ["death"]]


def test_freeway_a_hit_pushes_back_and_a_crossing_does_not():
    env = frame_by_frame("freeway")
    infos, pauses, rewards = [], [], []
    for _ in range(1400):
        _, reward, _, _, info = env.step(UP)
        infos.append(info)
        pauses.append(int(env.ale.getRAM()[106]))
        rewards.append(reward)
    hits = when(infos, "hit")
    assert hits
    assert costly(infos) == hits
    assert all(pauses[frame] in (91, 92) for frame in hits)
    scores = [frame for frame, reward in enumerate(rewards) if reward > 0]
    assert scores
    assert not any(abs(hit - score) < 4 for hit in hits for score in scores)


def test_bowling_judges_a_ball_when_it_returns():
    env = frame_by_frame("bowling")
    infos, phases, standing, second = [], [], [], []
    for action in chosen(700):
        for _ in range(4):
            infos += hold(env, action, 1)
            ram = env.ale.getRAM()
            phases.append(int(ram[13]))
            standing.append(int((ram[57:67] != 255).sum()))
            second.append(bool(ram[18]))
    change = list(itertools.pairwise(phases))
    thrown = [frame + 1 for frame, pair in enumerate(change) if pair == (4, 5)]
    returned = [frame + 1 for frame, pair in enumerate(change) if pair == (5, 6)]
    balls = list(zip(thrown, returned, strict=False))
    assert len(balls) >= 5
    assert when(infos, "no-hit") == [end for start, end in balls if standing[start] == standing[end]] == costly(infos)
    assert when(infos, "no-strike") == [end for _, end in balls if standing[end] and not second[end]]
    assert 0 < len(costly(infos)) < len(balls)


def test_boxing_knocked_out():
    env = frame_by_frame("boxing")
    hold(env, NOOP, 60)
    poke(env, r19=0x98)
    infos = hold(env, NOOP, 1500)
    last = len(infos) - 1
    assert last < 1499
    assert when(infos, "knock-out") == when(infos, "lose") == when(infos, "no-enemy-ko") == costly(infos) == [last]


@pytest.mark.parametrize(("ours", "theirs", "lose"), [(0, 5, True), (0x20, 5, False), (6, 5, False)])
def test_boxing_on_points(ours, theirs, lose):
    env = frame_by_frame("boxing")
    hold(env, NOOP, 60)
    poke(env, r16=0, r17=2, r18=ours, r19=theirs)
    infos = hold(env, NOOP, 300)
    last = len(infos) - 1
    assert last < 299
    assert when(infos, "lose") == costly(infos) == ([last] if lose else [])
    assert when(infos, "no-enemy-ko") == [last]
    assert not when(infos, "knock-out")


def test_boxing_a_knock_out_of_ours_is_what_is_wanted():
    env = frame_by_frame("boxing")
    hold(env, NOOP, 60)
    poke(env, r18=0x98)
    infos = randomly(env, 3000)
    assert env.ale.game_over()
    assert env.ale.getRAM()[18] == 0xC0
    assert not when(infos, "no-enemy-ko")
    assert not when(infos, "lose")


@pytest.mark.parametrize(("byte", "lose"), [("r62", True), ("r61", False)])
def test_fishing_derby_is_lost_when_the_opponent_has_the_99_pounds(byte, lose):
    env = frame_by_frame("fishing-derby")
    hold(env, NOOP, 60)
    poke(env, **{byte: 0x98})
    infos = hold(env, NOOP, 3000) if lose else randomly(env, 12_000, ALL)
    last = len(infos) - 1
    assert env.ale.game_over()
    assert when(infos, "lose") == costly(infos) == ([last] if lose else [])


def test_frostbite_freezes_when_no_degrees_are_left():
    env = frame_by_frame("frostbite")
    hold(env, NOOP, 60)
    poke(env, r101=2)
    infos = hold(env, NOOP, 600)
    (frame,) = when(infos, "freezing")
    assert env.ale.getRAM()[101] != 0
    (life,) = when(infos, "death")
    assert life - frame == 199
    assert costly(infos) == [frame, life]


def test_frostbite_a_level_whose_bonus_counts_the_degrees_to_nought_is_not_freezing():
    """The igloo is put up; Bailey walks to its door and in."""
    env = frame_by_frame("frostbite")
    hold(env, NOOP, 60)
    poke(env, r77=15)
    infos, degrees = [], []
    while env.ale.getRAM()[113] != 0x40:
        infos += hold(env, RIGHT, 4) + hold(env, UP, 2)
        assert len(infos) < 400
    for _ in range(400):
        infos += hold(env, NOOP, 1)
        degrees.append(int(env.ale.getRAM()[101]))
    assert min(degrees) == 0
    assert degrees[-1] > 0
    assert not when(infos, "freezing")
    assert not costly(infos)


def test_frostbite_drowning_is_not_freezing():
    infos = randomly(frame_by_frame("frostbite"), 1200, (DOWN, NOOP))
    assert when(infos, "death")
    assert not when(infos, "freezing")


def test_gravitar_without_fuel_ends_at_once_whatever_lives_are_left():
    env = frame_by_frame("gravitar")
    hold(env, NOOP, 60)
    poke(env, r10=0, r11=1, r12=5)
    lives = env.ale.lives()
    infos = randomly(env, 1500)
    last = len(infos) - 1
    assert lives > 1
    assert when(infos, "fuel") == when(infos, "death") == costly(infos) == [last]


def test_gravitar_losing_all_lives_with_fuel_left_is_not_the_fuel():
    infos = randomly(frame_by_frame("gravitar"), 2500)
    assert infos[-1]["lives"] == 0
    assert when(infos, "death")[1:] == lost(infos)[1:]
    assert not when(infos, "fuel")


def test_hero_is_killed_by_its_own_dynamite():
    infos = randomly(frame_by_frame("hero"), 1000)
    blasts, deaths = when(infos, "dynamite"), when(infos, "death")
    assert blasts
    assert [frame + 106 for frame in blasts] == deaths
    assert costly(infos) == sorted(blasts + deaths)


def test_hero_killed_by_something_else_is_not_the_dynamite():
    """The last of four deaths of this random play is not its own doing: no fuse is burning."""
    env = frame_by_frame("hero")
    infos = []
    for action in chosen(3000)[: 5860 // 4]:
        infos += hold(env, action, 4)
    deaths = when(infos, "death")
    assert len(deaths) == 4
    assert when(infos, "dynamite") == [frame - 106 for frame in deaths[:3]]


def test_ice_hockey_the_enemy_scores():
    env = frame_by_frame("ice-hockey")
    infos, rewards = [], []
    for _ in range(1950):
        _, reward, _, _, info = env.step(NOOP)
        infos.append(info)
        rewards.append(reward)
    scored = when(infos, "enemy-score")
    assert len(scored) == 2
    assert scored == [frame for frame, reward in enumerate(rewards) if reward < 0] == costly(infos)


def test_gopher_a_carrot_is_stolen():
    infos = hold(frame_by_frame("gopher"), NOOP, 2900)
    (frame,) = when(infos, "lose-carrot")
    assert lost(infos) == costly(infos) == [frame]


@pytest.mark.parametrize("name", ["alien", "breakout", "ms-pacman"])
def test_a_death_is_the_frame_on_which_the_lives_decrease(name):
    infos = randomly(frame_by_frame(name), 2500)
    assert when(infos, "death")
    assert when(infos, "death") == costly(infos)
    assert when(infos, "death")[1:] == lost(infos)[1:]


@pytest.mark.parametrize(("name", "shown", "then"), [("amidar", 0, 11), ("demon-attack", 1, 4)])
def test_lives_that_rise_by_themselves_are_no_death(name, shown, then):
    env = frame_by_frame(name)
    assert env.ale.lives() == shown
    infos = hold(env, NOOP, 5)
    assert infos[-1]["lives"] == then
    assert not costly(infos)


@pytest.mark.parametrize("name", ONLY_DEATH)
def test_every_game_plays(name):
    env = frame_by_frame(name, frame_skip=4, size=64)
    infos = randomly(env, 40, held=1)
    assert len(infos) == 40
    assert list(infos[0]["labels"]) == ["death"]

"""Over many thousands of steps the labels say exactly what the game's own source says."""

import numpy as np
import pytest

from ambs.envs.minatar.game import MinAtarGame
from tests.envs.minatar.witness import watch


def sea(rng, game):
    """Anywhere, short of oxygen, with any count of divers: all that ends a game comes often, and comes together."""
    game.sub_x, game.sub_y = int(rng.choice([0, 0, 2, 5, 9, 9])), int(rng.integers(0, 9)) // 2
    game.sub_or = game.sub_x > 4
    game.surface = game.sub_y == 0
    game.oxygen = int(rng.integers(0, 10))
    game.diver_count = max(int(rng.integers(-8, 7)), -2) if rng.random() < 0.5 else 0
    game.e_spawn_speed, game.move_speed, game.e_spawn_timer = 1, int(rng.integers(2, 5)), 0
    for _ in range(10):
        game._spawn_enemy()
    for enemy in game.e_fish + game.e_subs:
        enemy[0] = int(rng.integers(0, 10))


def space(rng, game):
    """Aliens near the bottom, and bullets in the air."""
    game.alien_map = np.roll(game.alien_map * (rng.random((10, 10)) < 0.5), int(rng.integers(3, 8)), axis=0)
    game.alien_map[int(rng.integers(5, 10)), int(rng.integers(0, 10))] = 1
    game.e_bullet_map = (rng.random((10, 10)) < 0.08).astype(float)
    game.alien_move_timer = int(rng.integers(0, 4))


def road(rng, game):
    game.pos = int(rng.integers(1, 10))
    game.terminate_timer = int(rng.integers(5, 60))


def causes(game: str, conditions: list[str]) -> set[str]:
    """The atoms that the source's conditions stand for."""
    known = {
        "seaquest": (("self.oxygen<=0", "out-of-oxygen"), ("self.diver_count == 0", "empty"), ("self.sub_x", "hit")),
        "space-invaders": (("e_bullet_map", "hit"), ("alien_map", "invaded")),
        "freeway": (("car[0:2]", "hit"), ("self.pos==0", "across"), ("a=='", "walked")),
    }[game]
    return {next(cause for mark, cause in known if mark in condition) for condition in conditions}


# What a test from anywhere has to have come across.
OFTEN = {
    "seaquest": [{"hit"}, {"out-of-oxygen"}, {"empty"}, {"hit", "out-of-oxygen"}, {"empty", "out-of-oxygen"}],
    "space-invaders": [{"hit"}, {"invaded"}, {"hit", "invaded"}],
    "freeway": [{"hit"}, {"walked"}, {"walked", "hit"}, {"walked", "across"}],
}


@pytest.mark.parametrize(
    ("game", "variable", "scatter"),
    [("seaquest", "terminal", sea), ("space-invaders", "terminal", space), ("freeway", "pos", road)],
)
@pytest.mark.parametrize(
    ("scattered", "steps"), [(False, 20000), (True, 8000)], ids=["from the start", "from anywhere"]
)
def test_labels_agree_with_the_source(game, variable, scatter, scattered, steps):
    rng = np.random.default_rng(4)
    env = MinAtarGame(game)
    conditions = watch(env._game, variable)
    seen: dict[frozenset[str], int] = {}
    over = True
    for action in rng.integers(6, size=steps):
        if over:
            env.reset(seed=int(rng.integers(2**31)))
            if scattered:
                scatter(rng, env._game)
        depth = getattr(env._game, "sub_y", 0)
        conditions.clear()
        _, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
        told = {atom for atom, true in info["labels"].items() if true}
        found = causes(game, conditions)
        if game == "seaquest":
            assert ("surface" in told) == (depth > 0 and env._game.sub_y == 0)
            assert ("empty" in found) == ("surface" in told and "diver" not in told)
        atoms = {"hit", "out-of-oxygen", "invaded"}
        assert told & atoms == found & atoms
        assert terminated == bool(found and game != "freeway")
        assert (info["cost"] > 0) == bool(found - {"across", "walked"})
        seen[frozenset(found)] = seen.get(frozenset(found), 0) + 1
    for combination in OFTEN[game] if scattered else []:
        assert seen.get(frozenset(combination), 0) >= 10, seen


@pytest.mark.parametrize(("game", "atom"), [("asterix", "hit"), ("breakout", "lose-ball")])
def test_games_that_end_in_one_way(game, atom):
    """Only last steps show the ball at the bottom, or an enemy where the player is (which may have run on already)."""
    env = MinAtarGame(game)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    ends = 0
    for action in rng.integers(6, size=20000):
        observation, _, terminated, _, info = env.step(action)
        assert info["labels"] == {atom: terminated}
        assert info["cost"] == 10.0 * terminated
        if game == "breakout":
            assert observation[9, :, 1].any() == terminated
        elif observation[:, :, 0][observation[:, :, 1] == 1].any():
            assert terminated
        if terminated:
            ends += 1
            env.reset()
    assert ends > 100

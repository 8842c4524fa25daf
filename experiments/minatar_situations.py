"""Situations in MinAtar's games, one step before an atom becomes true, or nearly does.

The tests play them, and `experiments.minatar_atoms` draws the first two of each atom for the documentation. They are
written in the games' own variables: entities of Seaquest and Asterix begin with column, row and whether they go right.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ambs.envs.minatar.game import MinAtarGame


@dataclass(frozen=True)
class Situation:
    """One step from a state that is set up."""

    game: str
    about: str
    """The atom that it is about."""
    what: str
    action: str
    """One of MinAtar's letters: n(othing) l u r d f(ire)."""
    variables: dict[str, Any]
    true: frozenset[str]
    """The atoms that are true after the step; all others are false."""
    ends: bool
    """Whether the game ends with it."""

    def prepare(self) -> MinAtarGame:
        """The environment in that situation, without sticky actions."""
        env = MinAtarGame(self.game, sticky=0.0, render_mode="rgb_array")
        env.reset(seed=0)
        vars(env._game).update(self.variables)
        return env

    def play(self, env: MinAtarGame) -> tuple[dict[str, Any], bool]:
        """`info` after the step, and whether it ended the game."""
        _, _, terminated, truncated, info = env.step("nlurdf".index(self.action))
        return info, terminated or truncated


def _grid(*cells: tuple[int, int]) -> np.ndarray:
    grid = np.zeros((10, 10))
    for cell in cells:
        grid[cell] = 1
    return grid


def _sea(about: str, what: str, action: str, true: set[str], *, ends: bool = False, **variables: Any) -> Situation:
    below = {"sub_x": 5, "sub_y": 4, "sub_or": True, "surface": False}
    return Situation("seaquest", about, what, action, below | variables, frozenset(true), ends)


def _road(what: str, action: str, hit: bool, pos: int, car: list[int], move_timer: int = 0) -> Situation:
    """One car that matters: column, row, steps until it moves, and its speed; all others are far from the chicken."""
    cars = [car if car[1] == row else [8, row, 5, 5] for row in range(1, 9)]
    return Situation(
        "freeway", "hit", what, action, {"pos": pos, "move_timer": move_timer, "cars": cars},
        frozenset({"hit"} if hit else ()), False,
    )  # fmt: skip


def _field(what: str, action: str, hit: bool, entity: list[Any], move_timer: int = 3) -> Situation:
    entities = [entity if entity[1] == slot + 1 else None for slot in range(8)]
    return Situation(
        "asterix", "hit", what, action, {"entities": entities, "move_timer": move_timer},
        frozenset({"hit"} if hit else ()), hit,
    )  # fmt: skip


def _space(about: str, what: str, action: str, true: set[str], **variables: Any) -> Situation:
    calm = {"pos": 5, "alien_map": _grid((2, 1), (2, 2)), "alien_move_timer": 3, "alien_shot_timer": 5}
    return Situation("space-invaders", about, what, action, calm | variables, frozenset(true), bool(true))


def _ball(what: str, action: str, lost: bool, **variables: Any) -> Situation:
    flying = {"ball_x": 5, "ball_y": 8, "last_x": 4, "last_y": 7, "ball_dir": 2}
    return Situation(
        "breakout", "lose-ball", what, action, flying | variables, frozenset({"lose-ball"} if lost else ()), lost
    )


SITUATIONS = (
    _sea("surface", "comes up, a diver aboard", "u", {"surface", "diver"}, sub_y=1, diver_count=1),
    _sea("surface", "one row below", "u", {"diver"}, sub_y=2, diver_count=1),
    _sea("surface", "stays up", "n", {"diver"}, sub_y=0, surface=True, diver_count=1),
    _sea("surface", "comes up empty", "u", {"surface"}, ends=True, sub_y=1),
    _sea("surface", "comes up with all six", "u", {"surface", "diver"}, sub_y=1, diver_count=6),
    _sea("surface", "the count below zero", "u", {"surface", "diver"}, sub_y=1, diver_count=-1),
    _sea("diver", "takes a diver aboard", "r", {"diver"}, divers=[[6, 4, True, 3]]),
    _sea("diver", "the diver is one row up", "r", set(), divers=[[6, 3, True, 3]]),
    _sea("diver", "lets the last one off", "n", set(), sub_y=0, surface=True, diver_count=0),
    _sea("hit", "a fish swims into it", "n", {"hit"}, ends=True, e_fish=[[6, 4, False, 0]]),
    _sea("hit", "the fish comes a step later", "n", set(), e_fish=[[6, 4, False, 1]]),
    _sea("hit", "it drives into a fish", "r", {"hit"}, ends=True, e_fish=[[6, 4, False, 3]]),
    _sea("hit", "it and a fish change places", "r", {"hit"}, ends=True, e_fish=[[6, 4, False, 0]]),
    _sea("hit", "the fish is shot just in time", "n", set(), e_fish=[[6, 4, False, 0]], f_bullets=[[5, 4, True]]),
    _sea("hit", "a submarine drives into it", "n", {"hit"}, ends=True, e_subs=[[4, 4, True, 0, 5]]),
    _sea("hit", "the submarine waits", "n", set(), e_subs=[[4, 4, True, 2, 5]]),
    _sea("hit", "a bullet", "n", {"hit"}, ends=True, e_bullets=[[6, 4, False]]),
    _sea("hit", "a bullet that flies away", "n", set(), e_bullets=[[6, 4, True]]),
    _sea("hit", "a bullet leaves the sea where it is", "l", {"hit"}, ends=True, sub_x=1, e_bullets=[[0, 4, False]]),
    _sea("out-of-oxygen", "no oxygen left", "n", {"out-of-oxygen"}, ends=True, oxygen=0),
    _sea("out-of-oxygen", "oxygen for one more step", "n", set(), oxygen=1),
    _sea("out-of-oxygen", "up, too late", "u", {"surface", "diver", "out-of-oxygen"},
         ends=True, oxygen=0, sub_y=1, diver_count=1),
    _sea("out-of-oxygen", "up too late, and empty", "u", {"surface", "out-of-oxygen"}, ends=True, oxygen=0, sub_y=1),
    _sea("out-of-oxygen", "and hit", "n", {"hit", "out-of-oxygen"}, ends=True, oxygen=0, e_bullets=[[6, 4, False]]),
    _sea("out-of-oxygen", "a fish near by", "n", {"out-of-oxygen"}, ends=True, oxygen=0, e_fish=[[6, 4, False, 1]]),
    _road("a car drives into it", "n", True, 5, [3, 5, 0, 1]),
    _road("the car comes a step later", "n", False, 5, [3, 5, 1, 1]),
    _road("it walks into a car", "u", True, 6, [4, 5, 2, 3]),
    _road("it cannot walk yet", "u", False, 6, [4, 5, 2, 3], move_timer=2),
    _road("hit by its first step", "u", True, 9, [4, 8, 2, 3]),
    _road("walks back to the start", "d", False, 8, [4, 7, 2, 3]),
    _road("waits at the start", "d", False, 9, [4, 8, 2, 3]),
    _road("gets across", "u", False, 1, [4, 2, 2, 3]),
    _field("an enemy runs into it", "n", True, [6, 5, False, False], move_timer=0),
    _field("the enemy comes later", "n", False, [6, 5, False, False], move_timer=1),
    _field("it runs into an enemy", "u", True, [5, 4, True, False]),
    _field("it takes gold", "u", False, [5, 4, True, True]),
    _field("it runs away", "d", False, [6, 5, False, False], move_timer=0),
    _space("hit", "a bullet", "n", {"hit"}, e_bullet_map=_grid((8, 5))),
    _space("hit", "dodged", "l", set(), e_bullet_map=_grid((8, 5))),
    _space("hit", "still a row above", "n", set(), e_bullet_map=_grid((7, 5))),
    _space("hit", "the cannon drives under it", "r", {"hit"}, e_bullet_map=_grid((8, 6))),
    _space("invaded", "an alien reaches the cannon", "n", {"invaded"},
           alien_map=_grid((9, 4)), alien_dir=1, alien_move_timer=0),
    _space("invaded", "an alien beside the cannon", "n", set(), alien_map=_grid((9, 4)), alien_dir=1),
    _space("invaded", "the cannon drives into an alien", "l", {"invaded"}, alien_map=_grid((9, 4))),
    _space("invaded", "no row left", "n", {"invaded"}, alien_map=_grid((9, 9)), alien_dir=1, alien_move_timer=0),
    _space("invaded", "comes down to the last row", "n", set(),
           alien_map=_grid((8, 9)), alien_dir=1, alien_move_timer=0),
    _space("invaded", "goes along the last row", "n", set(),
           alien_map=_grid((9, 1)), alien_dir=1, alien_move_timer=0),
    _space("invaded", "and shoots as it arrives", "n", {"invaded"},
           alien_map=_grid((9, 4)), alien_dir=1, alien_move_timer=0, alien_shot_timer=0),
    _space("invaded", "and hit", "n", {"hit", "invaded"},
           alien_map=_grid((9, 4)), alien_dir=1, alien_move_timer=0, e_bullet_map=_grid((8, 5))),
    _ball("passes the paddle", "n", True, pos=2),
    _ball("bounces off the paddle", "n", False, pos=6),
    _ball("missed by one", "n", True, pos=7),
    _ball("caught by a step", "l", False, pos=7),
    _ball("still a row above", "n", False, pos=2, ball_y=7, last_y=6),
)  # fmt: skip

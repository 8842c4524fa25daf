"""Playing the real games frame by frame, without chance: to get somewhere, and to see which labels come up there."""

from __future__ import annotations

import numpy as np

from ambs.envs.atari.game import AtariGame

NOOP, FIRE, UP, RIGHT, LEFT, DOWN = range(6)
RIGHTFIRE, LEFTFIRE = 11, 12
ALL = tuple(range(18))


def frame_by_frame(game: str, seed: int = 0, **kwargs) -> AtariGame:
    """One frame a step, no stickiness, no no-ops: what happens is what the actions say."""
    env = AtariGame(game, **{"frame_skip": 1, "sticky": 0.0, "noops": 0, "size": 8, **kwargs})
    env.reset(seed=seed)
    return env


def hold(env: AtariGame, action: int, frames: int) -> list[dict]:
    """The `info` of each frame; ends with the game."""
    infos = []
    for _ in range(frames):
        *_, terminated, _, info = env.step(action)
        infos.append(info | {"lives": env.ale.lives()})
        if terminated:
            break
    return infos


def randomly(env: AtariGame, frames: int, actions: tuple[int, ...] = ALL, seed: int = 0, held: int = 4) -> list[dict]:
    """Random actions, each held for some frames; ends with the game."""
    infos: list[dict] = []
    for action in chosen(-(-frames // held), actions, seed):
        infos += hold(env, action, held)
        if env.ale.game_over():
            break
    return infos


def chosen(count: int, actions: tuple[int, ...] = ALL, seed: int = 0) -> list[int]:
    """Random actions."""
    return np.random.default_rng(seed).choice(actions, count).tolist()


def when(infos: list[dict], atom: str) -> list[int]:
    """The frames on which the atom is true."""
    return [frame for frame, info in enumerate(infos) if info["labels"][atom]]


def costly(infos: list[dict]) -> list[int]:
    """The frames that cost."""
    return [frame for frame, info in enumerate(infos) if info["cost"] > 0]


def lost(infos: list[dict]) -> list[int]:
    """The frames on which the emulator takes a life."""
    lives = [info["lives"] for info in infos]
    return [frame for frame in range(1, len(lives)) if lives[frame] < lives[frame - 1]]


def poke(env: AtariGame, **values: int) -> None:
    """Writes bytes of memory: `poke(env, r62=6)`. What follows from them is the game's own doing."""
    for name, value in values.items():
        env.ale.setRAM(int(name[1:]), value)

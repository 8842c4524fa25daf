"""One picture a game: the frame on which each atom comes true, the frame before, and one on which it is false.

The frames come from the same kind of play that the tests use: random with a fixed seed, or a short script.

    python -m experiments.atari_atoms [--games seaquest ...]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from ambs.envs.atari import GAMES
from ambs.envs.atari.game import AtariGame
from ambs.files import replacing

OUT = Path(__file__).parent.parent / "docs" / "images" / "atari"
FRAMES = 20_000
NOOP, UP, DOWN = 0, 2, 5


def dive(env: AtariGame) -> Iterator[int]:
    """Seaquest: up without a diver; up with one; and down until the tank is empty."""
    for script in (((NOOP, 135), (DOWN, 45), (UP, 400)), ((DOWN, 45), (UP, 200)), ((DOWN, 10), (NOOP, 400))):
        for number, (action, frames) in enumerate(script):
            yield from [action] * frames
            if script[0][1] == 45 and number == 0:
                env.ale.setRAM(62, 1)
            if script[0][1] == 10 and number == 0:
                env.ale.setRAM(102, 3)


def actions(game: str, env: AtariGame) -> Iterator[int]:
    """An action a frame: the script if there is one, and then random ones, each held for four frames."""
    if game == "seaquest":
        yield from dive(env)
    generator = np.random.default_rng(1)
    # FIRE is Enduro's throttle.
    choices = (1, 1, 1, 11, 12) if game == "enduro" else tuple(range(18))
    while True:
        yield from [int(generator.choice(choices))] * 4


def firsts(game: str) -> dict[str, list[np.ndarray]]:
    """Atom → the screen before, the screen on which it comes true for the first time, and half a second later."""
    env = AtariGame(game, frame_skip=1, sticky=0, noops=0, size=8, render_mode="rgb_array")
    env.reset(seed=0)
    found: dict[str, list[np.ndarray]] = {}
    waiting: dict[str, int] = {}
    before = env.render()
    for frame, action in zip(range(FRAMES), actions(game, env), strict=False):
        *_, terminated, _, info = env.step(action)
        screen = env.render()
        for atom, true in info["labels"].items():
            if true and atom not in found:
                found[atom] = [before, screen]
                waiting[atom] = frame + 30
            elif waiting.get(atom) == frame:
                found[atom].append(screen)
        if len(found) == len(info["labels"]) and all(len(screens) == 3 for screens in found.values()):
            break
        before = screen
        if terminated:
            env.reset()
    return found


def sheet(game: str) -> np.ndarray:
    """A row for each atom, with its name; columns are before, true, half a second later."""
    rows = []
    found = firsts(game)
    for atom in GAMES[game].labeller.atoms:
        if len(found.get(atom, [])) < 3:
            raise SystemExit(f'"{atom}" did not come true in {FRAMES} frames of {game}.')
        title = np.full((18, 3 * 160 + 16, 3), 255, np.uint8)
        words = f"{atom}: a frame before, on its frame, 30 frames later"
        cv2.putText(title, words, (2, 13), cv2.FONT_HERSHEY_SIMPLEX, 0.42, (0, 0, 0), 1, cv2.LINE_AA)
        gap = np.full((210, 8, 3), 255, np.uint8)
        first, second, third = found[atom]
        rows += [title, np.concatenate([first, gap, second, gap, third], axis=1)]
    return np.concatenate(rows)


def main() -> None:
    five = list(GAMES)[:5]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", nargs="+", choices=five, default=five)
    OUT.mkdir(parents=True, exist_ok=True)
    for game in parser.parse_args().games:
        done, encoded = cv2.imencode(".png", sheet(game)[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 9])
        assert done
        with replacing(OUT / f"{game}.png") as partial:
            partial.write_bytes(encoded.tobytes())
        print(f"{game}: {len(encoded) / 1000:.0f} kB")


if __name__ == "__main__":
    main()

"""MinAtar's own games: their rules, loaded without the package around them, and their variables, saved and put back.

`import minatar` imports matplotlib and seaborn for a window that nobody opens here, which takes seconds in every worker
process; the file of a game needs NumPy only. So the file is loaded by itself, and what the package adds to it (sticky
actions, seeds, pictures) is done in `game.py`.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ambs.errors import AmbsError

# What never changes while a game is played.
_CONSTANT = {"channels", "action_map", "random", "ramping"}


class Dice:
    """Draws of chance as MinAtar asks for them, from the generator that Gymnasium seeds."""

    def __init__(self, generator: np.random.Generator) -> None:
        self.generator = generator

    def rand(self, *shape: int) -> Any:
        return self.generator.random(shape) if shape else self.generator.random()

    def randint(self, low: int, high: int | None = None, size: int | None = None) -> Any:
        return self.generator.integers(low, high, size)


@functools.cache
def _module(file: str) -> ModuleType:
    package = importlib.util.find_spec("minatar")
    if package is None or not package.submodule_search_locations:
        raise AmbsError("the MinAtar games need the package minatar; install it with `pip install minatar`.")
    path = Path(package.submodule_search_locations[0]) / "environments" / f"{file}.py"
    spec = importlib.util.spec_from_file_location(f"ambs.envs.minatar.{file}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(game: str, *, ramping: bool) -> Any:
    """A game of MinAtar ("space-invaders"), at its start."""
    return _module(game.replace("-", "_")).Env(ramping=ramping)


def variables(game: Any) -> dict[str, Any]:
    """All that changes while the game is played, but for its dice; a copy."""
    return {name: _copied(value) for name, value in vars(game).items() if name not in _CONSTANT}


def restore(game: Any, saved: Mapping[str, Any]) -> None:
    """Puts back what `variables` gave, which stays as good as new."""
    vars(game).update({name: _copied(value) for name, value in saved.items()})


def duplicate(game: Any) -> Any:
    """The same game once more, to try a step in. Its dice are loaded alike, and its own."""
    other = type(game)(ramping=getattr(game, "ramping", None))
    restore(other, variables(game))
    generator = np.random.Generator(type(game.random.generator.bit_generator)())
    generator.bit_generator.state = game.random.generator.bit_generator.state
    other.random = Dice(generator)
    return other


def _copied(value: Any) -> Any:
    """Lists of lists and arrays are what the games are made of; everything else in them is a number."""
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value.copy() if isinstance(value, np.ndarray) else value

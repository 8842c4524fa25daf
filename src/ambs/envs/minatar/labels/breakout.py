"""Breakout: `lose-ball`."""

from __future__ import annotations

from typing import Any

from ambs.envs.minatar.labels.base import Labeller


class Breakout(Labeller):
    """A ball that reaches the bottom row beside the paddle is the one thing that ends the game, and always does."""

    def __init__(self, game: Any) -> None:
        pass

    def labels(self, game: Any, action: str) -> dict[str, bool]:
        return {"lose-ball": bool(game.terminal)}

    @staticmethod
    def at_start(game: Any) -> dict[str, bool]:
        return {"lose-ball": False}

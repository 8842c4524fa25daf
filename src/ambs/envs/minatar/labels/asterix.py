"""Asterix: `hit`."""

from __future__ import annotations

from typing import Any

from ambs.envs.minatar.labels.base import Labeller


class Asterix(Labeller):
    """Touching an enemy is the one thing that ends the game, and always does."""

    def __init__(self, game: Any) -> None:
        pass

    def labels(self, game: Any, action: str) -> dict[str, bool]:
        return {"hit": bool(game.terminal)}

    @staticmethod
    def at_start(game: Any) -> dict[str, bool]:
        return {"hit": False}

"""Space Invaders: `hit`, `invaded`. Each ends the game, and both can be true of its last step."""

from __future__ import annotations

from typing import Any

from ambs.envs.minatar.labels.base import Labeller

BOTTOM = 9


class SpaceInvaders(Labeller):
    """The cannon moves first, then bullets, then aliens; only then do aliens shoot and die.

    So a bullet hits that was one row above before the step: those seen after it may have just been fired. Aliens are
    looked at twice, where they were when the cannon moved and where they went. None dies in the bottom row, since the
    cannon's own bullets leave that row first.
    """

    def __init__(self, game: Any) -> None:
        self._falling = game.e_bullet_map[BOTTOM - 1].astype(bool)
        self._landed = game.alien_map[BOTTOM].astype(bool)
        self._direction = game.alien_dir

    def labels(self, game: Any, action: str) -> dict[str, bool]:
        touched = self._landed[game.pos] or game.alien_map[BOTTOM, game.pos]
        # Aliens turn round exactly when they come down.
        no_row_left = game.alien_dir != self._direction and self._landed.any()
        return {"hit": bool(self._falling[game.pos]), "invaded": bool(touched or no_row_left)}

    @staticmethod
    def at_start(game: Any) -> dict[str, bool]:
        return {"hit": False, "invaded": False}

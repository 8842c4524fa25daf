"""Freeway: `hit`. It ends nothing; the chicken is back where it began, as it is after reaching the other side."""

from __future__ import annotations

from typing import Any

from ambs.envs.minatar.labels.base import Labeller

FAR_SIDE, START = 0, 9


class Freeway(Labeller):
    """Hit is a chicken that is at the start although it walked neither there nor across.

    There are no cars in the rows of the start and of the far side, so a chicken that walked there is not hit.
    """

    def __init__(self, game: Any) -> None:
        self._row = game.pos
        self._ready = game.move_timer == 0

    def labels(self, game: Any, action: str) -> dict[str, bool]:
        walked = {"u": -1, "d": 1}.get(action, 0) if self._ready else 0
        row = min(self._row + walked, START)
        return {"hit": bool(game.pos == START and FAR_SIDE < row < START)}

    @staticmethod
    def at_start(game: Any) -> dict[str, bool]:
        return {"hit": False}

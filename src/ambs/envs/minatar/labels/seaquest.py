"""Seaquest: `surface`, `diver`, `hit`, `out-of-oxygen`. The paper's formula is false exactly where the game ends.

The oxygen that decides is that before the step: a submarine that comes up one step too late is lost. The game counts
divers down from -1 once six were let off together, and asks on arrival only whether the count is 0; the label `diver`
follows that count, so that it says what the game makes of an arrival.
"""

from __future__ import annotations

from typing import Any

from ambs.envs.minatar.labels.base import Labeller
from ambs.envs.minatar.rules import duplicate

SURFACE = 0


class Seaquest(Labeller):
    """Three things end the game, and two can come together: the oxygen, with being hit or with coming up empty.

    Nothing hits at the surface, where no enemy ever is. Below it a game that ended with oxygen left was hit. Without
    oxygen it ends either way, so there the step is tried in a copy of the game that has some.
    """

    def __init__(self, game: Any) -> None:
        self._below = game.sub_y > SURFACE
        self._divers = game.diver_count
        self._no_oxygen = game.oxygen <= 0
        self._copy = duplicate(game) if self._no_oxygen else None

    def labels(self, game: Any, action: str) -> dict[str, bool]:
        arrived = self._below and game.sub_y == SURFACE
        # No diver swims at the surface: whoever is aboard on arrival was so before.
        divers = self._divers if arrived else game.diver_count
        return {
            "surface": arrived,
            "diver": divers != 0,
            "hit": game.sub_y > SURFACE and self._hit(game, action),
            "out-of-oxygen": self._no_oxygen,
        }

    @staticmethod
    def at_start(game: Any) -> dict[str, bool]:
        return {"surface": False, "diver": False, "hit": False, "out-of-oxygen": False}

    def _hit(self, game: Any, action: str) -> bool:
        if self._copy is None:
            return bool(game.terminal)
        self._copy.oxygen = 1
        self._copy.act(self._copy.action_map.index(action))
        return bool(self._copy.terminal)

"""Whether the model foretells violations well enough for a shield to begin.

While there is no shield yet, what the task policy proposes is played, so what the model foretold of it can be compared
with what happened: at the next step, and within the T steps that a shield would look ahead. The measure of both is the
Brier skill against always foretelling the frequency of violations:

    1 - mean (p - y)² / (f (1 - f)),    f = mean y

1 is perfect, 0 no better than the frequency, and less is worse. The lesser of the two skills counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ambs.envs.vector import Batch

# Older forecasts fade: they were made by a model that knew less. About so many count.
MEMORY = 4000
# Violations, of those that count, before a skill is believed.
ENOUGH = 5.0


@dataclass
class Skill:
    """Sums over forecasts, each worth a little less with every later one."""

    count: float = 0.0
    squared: float = 0.0
    happened: float = 0.0

    def add(self, forecast: float, happened: bool) -> None:
        keep = 1 - 1 / MEMORY
        self.count = keep * self.count + 1
        self.squared = keep * self.squared + (forecast - happened) ** 2
        self.happened = keep * self.happened + happened

    @property
    def value(self) -> float | None:
        """None as long as there is too little to tell."""
        rate = self.happened / max(self.count, 1.0)
        if self.happened < ENOUGH or rate >= 1:
            return None
        return 1 - self.squared / self.count / (rate * (1 - rate))


@dataclass
class Calibration:
    """The skills of both forecasts, and whether they have been enough; saved with every checkpoint."""

    bar: float
    look_ahead: int
    begun: bool = False
    """Once it has begun, a shield stays: what it refuses is not played, and the forecasts could not be compared."""
    next: Skill = field(default_factory=Skill)
    within: Skill = field(default_factory=Skill)
    open: dict[int, list[tuple[float, bool]]] = field(default_factory=dict)
    """Environment → what was foretold of the T steps from each of its last ones, oldest first, that are not over yet;
    and whether it has happened already."""
    told: tuple[list[float], list[float]] | None = None
    """What was foretold of every environment's next step, and of the T from there; None when that was seen."""

    def foretell(self, first: Any, within: Any) -> None:
        """Of the step that every environment is about to make."""
        self.told = np.asarray(first).tolist(), np.asarray(within).tolist()

    def see(self, came: Batch) -> None:
        """What came of that step."""
        if self.told is None:
            return
        (first, within), self.told = self.told, None
        for env in range(len(came.is_first)):
            lane = self.open.setdefault(env, [])
            if came.is_first[env]:
                # Another episode than the one that was foretold.
                lane.clear()
                continue
            violated = bool(came.cost[env] > 0)
            self.next.add(first[env], violated)
            lane[:] = [(told, happened or violated) for told, happened in [*lane, (within[env], False)]]
            if came.is_terminal[env]:
                self._settle(lane, len(lane))
            elif len(lane) == self.look_ahead:
                self._settle(lane, 1)
            if came.is_last[env]:
                # Cut off: what would have followed nobody knows. Those too in which it has happened already, or only
                # what happened would count of the end of an episode.
                lane.clear()
        value = self.value
        self.begun = self.begun or (value is not None and value > self.bar)

    @property
    def value(self) -> float | None:
        """The lesser skill; None as long as there is too little to tell."""
        both = self.next.value, self.within.value
        return None if None in both else min(both)  # type: ignore[type-var]

    def row(self) -> dict[str, float]:
        """For the metrics; of a shield that has begun, what it was then."""
        named = {"": self.value, "_next": self.next.value, "_within": self.within.value}
        return {f"shield/calibration{name}": value for name, value in named.items() if value is not None}

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Calibration:
        """As it was saved; JSON has only strings for keys."""
        lanes = {int(env): [(told, happened) for told, happened in lane] for env, lane in saved["open"].items()}
        skills = {name: Skill(**saved[name]) for name in ("next", "within")}
        told = None if saved["told"] is None else tuple(saved["told"])
        return cls(**{**saved, "open": lanes, "told": told, **skills})

    def _settle(self, lane: list[tuple[float, bool]], count: int) -> None:
        for forecast, happened in lane[:count]:
            self.within.add(forecast, happened)
        del lane[:count]

"""What the shield decided since the last row of metrics, summed up."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool

from ambs.types import Decision


@dataclass
class Decisions:
    """Sums over the decisions of a row; saved with every checkpoint."""

    count: int = 0
    overrides: int = 0
    traces: int = 0
    estimates: float = 0.0
    lost: int = 0
    """Decisions without an estimate, because the model predicted no number: the shield overrides then."""

    def add(self, decision: Decision, played: Bool[np.ndarray, " envs"]) -> None:
        """The decisions of one step, a row an environment; those that are not `played` count for nothing."""
        estimate = np.asarray(decision.estimate)[played]
        known = np.isfinite(estimate)
        self.count += estimate.size
        self.overrides += int(np.asarray(decision.overridden)[played].sum())
        self.traces += int(np.asarray(decision.traces)[played].sum())
        self.estimates += float(estimate[known].sum())
        self.lost += int((~known).sum())

    def means(self) -> dict[str, float]:
        if not self.count:
            return {}
        known = self.count - self.lost
        # Where nothing is known there is no mean, and 0 would say that all was unsafe.
        estimate = {"shield/estimate": self.estimates / known} if known else {}
        return {
            "shield/override_rate": self.overrides / self.count,
            **estimate,
            "shield/traces": self.traces / self.count,
        }

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

"""What the guards of the environments said since the last row of metrics, summed up."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ambs.envs.vector import Verdicts


@dataclass
class VerdictSums:
    """Sums over the verdicts of a row; saved with every checkpoint."""

    count: int = 0
    overrides: int = 0
    steps: int = 0
    """Steps of the environment that were tried."""
    estimates: float = 0.0
    known: int = 0
    """Verdicts with an estimate."""

    def add(self, verdicts: Verdicts) -> None:
        known = verdicts.asked & np.isfinite(verdicts.estimate)
        self.count += int(verdicts.asked.sum())
        self.overrides += int(verdicts.overridden.sum())
        self.steps += int(verdicts.steps.sum())
        self.estimates += float(verdicts.estimate[known].sum())
        self.known += int(known.sum())

    def means(self) -> dict[str, float]:
        if not self.count:
            return {}
        # Where nothing is known there is no mean, and 0 would say that all was unsafe.
        estimate = {"shield/estimate": self.estimates / self.known} if self.known else {}
        return {
            "shield/override_rate": self.overrides / self.count,
            **estimate,
            "shield/steps": self.steps / self.count,
        }

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

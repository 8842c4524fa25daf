"""How a run went, by its folder: return, violations so far and share of actions overridden, against steps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

BINS = 50


@dataclass(frozen=True)
class Curves:
    """Of one run, in parts of equal length."""

    step: Int[np.ndarray, " parts"]
    """The last step of each part."""
    returns: Float[np.ndarray, " parts"]
    """Mean of the episodes that ended in it, NaN where none did."""
    episodes: Int[np.ndarray, " parts"]
    """How many those were."""
    violations: Int[np.ndarray, " parts"]
    """Theirs."""
    overrides: tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]] | None = None
    """Steps, and the share of actions overridden since the row before; None without a shield."""

    @classmethod
    def of(cls, folder: Path, steps: int) -> Curves:
        episodes = _rows(folder / "scores.jsonl")
        part = np.array([min(BINS * (one["step"] - 1) // steps, BINS - 1) for one in episodes], int)
        count = np.bincount(part, minlength=BINS)
        total = np.bincount(part, [one["return"] for one in episodes], BINS)
        rated = [row for row in _rows(folder / "metrics.jsonl") if "shield/override_rate" in row]
        return cls(
            (1 + np.arange(BINS)) * steps // BINS,
            np.where(count > 0, total / np.maximum(count, 1), np.nan),
            count,
            np.bincount(part, [one["violations"] for one in episodes], BINS).astype(int),
            (
                np.array([row["step"] for row in rated], float),
                np.array([row["shield/override_rate"] for row in rated], float),
            )
            if rated
            else None,
        )

    def as_json(self) -> dict[str, list[float | int | None]]:
        """What is worth keeping of it; null where no episode ended."""
        returns = [None if np.isnan(mean) else round(float(mean), 3) for mean in self.returns]
        whole = {"step": self.step, "episodes": self.episodes, "violations": self.violations}
        return {"return": returns, **{name: numbers.tolist() for name, numbers in whole.items()}}

    @classmethod
    def of_json(cls, kept: Mapping[str, Any]) -> Curves:
        """From what `as_json` gave."""
        step, episodes, violations = (np.array(kept[name], int) for name in ("step", "episodes", "violations"))
        return cls(step, np.array(kept["return"], float), episodes, violations)

    def last_tenth(self) -> float | None:
        """The mean return of the episodes that ended in the last tenth of the run; None if there are none."""
        late = (self.step > 0.9 * self.step[-1]) & (self.episodes > 0)
        return float(np.average(self.returns[late], weights=self.episodes[late])) if late.any() else None

    def until(self, step: int) -> Curves:
        """What of it was over by then; overrides are left out."""
        there = self.step <= step
        return Curves(self.step[there], self.returns[there], self.episodes[there], self.violations[there])


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

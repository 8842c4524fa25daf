"""A run that was kept: the example's unshielded twin, for those who train the example to compare with.

`python -m experiments.twin` makes the file from a result of `experiments.training_runs`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ambs.runs.curves import Curves

FILE = "twin.json"
# What two runs may differ in and still be compared: who acted, for how long, and where it ran.
_OWN = ("agent", "shield", "seed", "steps", "workers", "devices", "log_every", "checkpoint_every", "tensorboard")


@dataclass(frozen=True)
class Twin:
    """One run of an agent without a shield."""

    config: Mapping[str, Any]
    curves: Curves

    @classmethod
    def kept(cls) -> Twin:
        text = resources.files("ambs.runs").joinpath(FILE).read_text(encoding="utf-8")
        found = json.loads(text)
        return cls(found["config"], Curves.of_json(found["curve"]))

    def is_of(self, config: Mapping[str, Any], steps: int) -> bool:
        """Whether a run is the same but for its shield, and no longer; both configurations as they are saved."""
        return steps <= self.config["steps"] and _compared(config) == _compared(self.config)

    def row(self, steps: int) -> dict[str, Any]:
        """Its numbers after so many steps, under the names of a summary."""
        until = self.curves.until(steps)
        episodes = int(until.episodes.sum())
        late = until.episodes.cumsum() > episodes - 100
        ended = until.episodes[late]
        mean = (until.returns[late][ended > 0] * ended[ended > 0]).sum() / max(1, ended.sum())
        violations = int(until.violations.sum())
        return {
            "episodes": episodes,
            "final_return": float(mean),
            "violations": violations,
            "violations_per_1000_steps": round(1000 * violations / steps, 3),
        }


def _compared(config: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in config.items() if name not in _OWN}
    rest["learner"] = {name: value for name, value in config["learner"].items() if name != "safety"}
    return rest

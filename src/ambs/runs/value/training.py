"""Training of Rainbow and IQN, as that of every other agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ambs.runs.dreamer.status import Progress, nobody
from ambs.runs.dreamer.training import conduct
from ambs.runs.value.config import ValueRunConfig
from ambs.runs.value.trainee import ValueTrainee


def train(
    config: ValueRunConfig, path: Path, progress: Progress = nobody, command: str | None = None
) -> dict[str, Any]:
    """Trains in the folder `path`, from its last checkpoint if there is one, and gives the summary.

    Whatever is said of `ambs.runs.dreamer.train` is so here.
    """
    return conduct(ValueTrainee, config, path, progress, command)

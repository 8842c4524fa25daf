"""Suites of runs that take moments, for the tests of this folder."""

import json
from pathlib import Path

import yaml

from ambs.bench.cells import Cell
from ambs.runs.dreamer.training import saved_options

TINY = {
    "envs": 2, "workers": "inline", "batch": 4, "prefill": 40, "capacity": 1000, "checkpoint-every": 100,
    "log-every": 50, "units": 16, "update-every": 20, "tensorboard": False,
}  # fmt: skip


def suite_file(folder: Path, **changes: object) -> str:
    """A suite of Rainbow in the conveyor world, two seeds, with whatever is given instead."""
    given = {"steps": 400, "seeds": [0, 1], "options": TINY, "games": {"conveyor": {}}, "agents": {"rainbow": {}}}
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({**given, **changes}, sort_keys=False), encoding="utf-8")
    return str(path)


def finish(cell: Cell, folder: Path) -> None:
    """The run, as if it had been trained in that folder."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(saved_options(cell.settings)))
    summary = {"env": "conveyor", "agent": cell.agent, "seed": cell.seed, "steps": cell.steps, "wall_seconds": 1.0}
    (folder / "summary.json").write_text(json.dumps(summary))

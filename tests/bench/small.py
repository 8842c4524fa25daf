"""Suites of runs that take moments, for the tests of this folder."""

from pathlib import Path

import yaml

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

"""`bench.json`: what has become of the runs of a suite in its folder, whatever part of it each command was about."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ambs.bench.conduct import Job
from ambs.bench.suite import Suite
from ambs.files import write_text


def record(suite: Suite, jobs: Sequence[Job], out: Path) -> dict[str, Any]:
    """Writes it, and gives what it holds: runs of earlier commands (`--only`, `--seeds`), and these in their place."""
    runs = _earlier(suite, out)
    for job in jobs:
        name = job.cell.name
        runs[name] = _told(job, tries=job.tries + runs.get(name, {}).get("tries", 0))
    told = {"suite": suite.name, "about": suite.about, "out": str(out), "runs": list(runs.values())}
    write_text(out / "bench.json", json.dumps(told, indent=2) + "\n")
    return told


def _earlier(suite: Suite, out: Path) -> dict[str, dict[str, Any]]:
    """By name; without those whose folders were removed since, and nothing if the file is another suite's, or no
    such file: what counts is in the folders of the runs."""
    try:
        told = json.loads((out / "bench.json").read_text(encoding="utf-8"))
        if told["suite"] != suite.name:
            return {}
        return {run["name"]: run for run in told["runs"] if run["state"] != "finished" or (out / run["name"]).exists()}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _told(job: Job, tries: int) -> dict[str, Any]:
    cell = job.cell
    return {
        "name": cell.name, "game": cell.game, "agent": cell.agent, "seed": cell.seed, "state": job.state,
        "folder": str(cell.folder), "command": cell.command, "tries": tries, "summary": job.summary,
        **({"killed_once": True} if job.killed else {}),
        **({"last_words": job.last_words()} if job.state == "failed" else {}),
    }  # fmt: skip

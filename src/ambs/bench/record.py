"""`bench.json`: what has become of the runs of a suite in its folder, whatever part of it each command was about.

It is written whenever that changes, so that a bench that is killed has told how often it started runs again. Nothing is
decided by it but whether a smoke test has killed a run: what there is of runs is in their folders.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ambs.bench.conduct import Job
from ambs.bench.suite import Suite
from ambs.files import write_text


class Record:
    """The file while a bench runs: runs of earlier commands (`--only`, `--seeds`), and its own in their place.

    What earlier commands tell of its own runs is read once, at the beginning. A run that they have killed to see that
    it goes on need not be killed again.
    """

    def __init__(self, suite: Suite, jobs: Sequence[Job], out: Path) -> None:
        self._suite, self._jobs, self._out = suite, jobs, out
        self._written: list[tuple[str, int, bool]] | None = None
        self._earlier = _earlier(suite, out)
        for job in jobs:
            # Without its folder it begins anew.
            job.killed = self._before(job).get("killed_once") is True and job.cell.folder.exists()

    def keep_up(self) -> None:
        """Writes it if anything has changed since; a disk that is full now is no reason to end the runs."""
        now = [(job.state, job.tries, job.killed) for job in self._jobs]
        if now != self._written:
            with contextlib.suppress(OSError):
                self.write()
                self._written = now

    def write(self) -> dict[str, Any]:
        """Gives what it holds now."""
        runs = dict(self._earlier)
        for job in self._jobs:
            tries = job.tries + self._before(job).get("tries", 0)
            runs[job.cell.name] = _told(job, tries, smoke=self._suite.smoke)
        suite = self._suite
        told = {"suite": suite.name, "about": suite.about, "out": str(self._out), "runs": list(runs.values())}
        write_text(self._out / "bench.json", json.dumps(told, indent=2) + "\n")
        return told

    def _before(self, job: Job) -> dict[str, Any]:
        return self._earlier.get(job.cell.name, {})


def _earlier(suite: Suite, out: Path) -> dict[str, dict[str, Any]]:
    """By name; without those whose folders were removed since, and nothing if the file is another suite's, or no
    such file: what counts is in the folders of the runs."""
    try:
        told = json.loads((out / "bench.json").read_text(encoding="utf-8"))
        if told["suite"] != suite.name:
            return {}
        there = [run for run in told["runs"] if run["state"] != "finished" or (out / run["name"]).exists()]
        # No bench runs here but the one that asks: what was running when another was killed does so no more.
        return {run["name"]: run | ({"state": "stopped"} if run["state"] == "running" else {}) for run in there}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _told(job: Job, tries: int, *, smoke: bool) -> dict[str, Any]:
    cell = job.cell
    return {
        "name": cell.name, "game": cell.game, "agent": cell.agent, "seed": cell.seed, "state": job.state,
        "folder": str(cell.folder), "command": cell.command, "tries": tries, "summary": job.summary,
        # False of one that was at its end before it could be.
        **({"killed_once": job.killed} if smoke or job.killed else {}),
        **({"last_words": job.last_words()} if job.state == "failed" else {}),
    }  # fmt: skip

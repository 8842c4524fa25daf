"""All runs of a suite from the first to the last: started, watched, tried again, stopped when we are.

Nothing is kept here that is not in the folders of the runs; so the same command goes on after whatever ended this one.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ambs.bench.cells import Cell
from ambs.bench.places import Handle, Place
from ambs.errors import AmbsError
from ambs.runs.dreamer.interruption import Interruption

# A mistake that `ambs train` has explained in a sentence; it would come again.
_EXPLAINED = 2
_PAUSE = 0.05


@dataclass
class Job:
    """A cell, and what has become of it."""

    cell: Cell
    log: Path
    state: str = "waiting"
    """waiting, running, finished, failed; stopped, if we were."""
    summary: dict[str, Any] | None = None
    tries: int = 0
    """How often it has been started again after a crash."""
    killed: bool = False
    """Whether we have killed it once, to see that it goes on."""
    dying: bool = False
    """Whether that was just now."""
    waited_for: bool = False
    """Whether it was said that another process writes to its folder."""
    handle: Handle | None = None
    trouble: str = ""
    """What is wrong with its folder, so that nobody knows what became of it."""

    def last_words(self, lines: int = 5) -> list[str]:
        """The end of what it said, and what we have to say of it."""
        said: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            said = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:]
        return [*said, *([self.trouble] if self.trouble else [])]


# Told whenever a run has come to another state, with a sentence, and now and then without.
Show = Callable[[Sequence[Job], str], None]


def conduct(jobs: Sequence[Job], place: Place, *, retries: int, show: Show, kill: bool = False) -> int | None:
    """Runs all jobs that are not finished; gives the number of the signal that ended it, if one did.

    Args:
        jobs: In the order in which they are started.
        place: Where.
        retries: How often a run that crashed is started again, from its checkpoint.
        show: Told how it goes.
        kill: Whether to kill every run once, as soon as it has learned and saved something.
    """
    with Interruption() as interruption, _at_once(jobs):
        try:
            while any(job.state in ("waiting", "running") for job in jobs):
                if interruption.signal is not None:
                    _stop(jobs, show)
                    return interruption.signal
                for job in jobs:
                    if job.state == "running":
                        _look(job, retries, show, jobs, kill=kill)
                _start_some(jobs, place, show)
                show(jobs, "")
                time.sleep(_PAUSE)
        except Exception:
            # Ours, as of a terminal that is gone, or of a log for which there is no room: the runs save themselves.
            _stop(jobs, lambda *_: None)
            raise
    return None


@contextlib.contextmanager
def _at_once(jobs: Sequence[Job]) -> Iterator[None]:
    """Within, a second Ctrl-C does not wait for checkpoints."""
    try:
        yield
    except BaseException:
        for job in jobs:
            if job.handle is not None:
                job.handle.kill()
        raise


@contextlib.contextmanager
def alone(out: Path) -> Iterator[None]:
    """Within, no other bench runs in the same folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / "bench.lock").open("w")
    except (FileExistsError, NotADirectoryError) as error:
        raise AmbsError(f"{out} is no folder; choose another with --out.") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AmbsError(
                f"another `ambs bench` is running in {out}; wait for it, or choose another folder with --out."
            ) from error
        yield


def _start_some(jobs: Sequence[Job], place: Place, show: Show) -> None:
    """As many as there is room for; a run that another process still writes to has to wait."""
    room = place.slots - sum(job.state == "running" for job in jobs)
    for job in jobs:
        if room <= 0:
            return
        if job.state != "waiting":
            continue
        _part_from_others(job, show, jobs)
        if job.cell.is_busy():
            if not job.waited_for:
                job.waited_for = True
                show(jobs, f"{job.cell.name}: another process writes to {job.cell.folder}, and is waited for")
            continue
        if not _read(job):
            show(jobs, f"{job.cell.name}: failed ({job.trouble})")
            continue
        # That other process may have brought it to its end.
        if job.summary is not None:
            job.state = "finished"
            show(jobs, f"{job.cell.name}: has its steps meanwhile")
            continue
        begun = any((job.cell.folder / "checkpoints").glob("*.json"))
        job.handle, job.state, room = place.start(job.cell, job.log), "running", room - 1
        show(jobs, f"{job.cell.name}: {'goes on from its checkpoint' if begun else 'started'}")


def _part_from_others(job: Job, show: Show, jobs: Sequence[Job]) -> None:
    """A run that is linked to belongs to other work: one that is not what we need is run anew, and not gone on with."""
    folder = job.cell.folder
    if folder.is_symlink() and _read(job) and job.summary is None:
        target = folder.readlink()
        folder.unlink()
        show(jobs, f"{job.cell.name}: {target} is no run of {job.cell.steps:,} steps, and is left as it is")


def _look(job: Job, retries: int, show: Show, jobs: Sequence[Job], *, kill: bool) -> None:
    """At a run that was started: whether it has ended, and how."""
    assert job.handle is not None
    code = job.handle.poll()
    if code is None:
        if kill and not job.killed and _has_learned(job.cell.folder):
            job.handle.kill()
            job.killed = job.dying = True
        return
    job.handle = None
    if not _read(job):
        show(jobs, f"{job.cell.name}: failed ({job.trouble})")
    elif job.summary is not None:
        job.state, job.dying = "finished", False
        unharmed = ", before it could be killed" if kill and not job.killed else ""
        # Its steps are what counts: it may have had no room for its picture, or been killed while it drew it.
        after = f", and then {_ended(code)}; {job.log} says why" if code else ""
        show(jobs, f"{job.cell.name}: finished{unharmed}{after}")
    elif job.dying:
        # No failure of its own.
        job.state, job.dying = "waiting", False
        show(jobs, f"{job.cell.name}: killed after a checkpoint, to see that it goes on")
    elif code == _EXPLAINED or job.tries >= retries:
        job.state = "failed"
        show(jobs, f"{job.cell.name}: failed ({_ended(code)})")
    else:
        job.state, job.tries = "waiting", job.tries + 1
        show(jobs, f"{job.cell.name}: {_ended(code)}, is started again ({job.tries} of {retries})")


def _stop(jobs: Sequence[Job], show: Show) -> None:
    """Every run saves itself and ends."""
    running = [job for job in jobs if job.handle is not None]
    those = "a run, which saves" if len(running) == 1 else f"{len(running)} runs, which save"
    show(jobs, f"stopping {those} a checkpoint first, once what it compiles is compiled; a second Ctrl-C kills")
    for job in running:
        assert job.handle is not None
        job.handle.stop()
    while running:
        for job in running:
            if job.handle is not None and job.handle.poll() is not None:
                job.handle = None
                if _read(job):
                    job.state = "stopped" if job.summary is None else "finished"
        running = [job for job in running if job.handle is not None]
        time.sleep(_PAUSE)


def _read(job: Job) -> bool:
    """Whether its folder tells what has become of it; where it does not, only this run has failed."""
    try:
        job.summary = job.cell.summary()
    except AmbsError as error:
        job.summary, job.state, job.trouble = None, "failed", str(error)
    return not job.trouble


def _has_learned(folder: Path) -> bool:
    """Whether a checkpoint is there that gradient steps have gone into; rows are written before checkpoints."""
    with contextlib.suppress(FileNotFoundError):
        rows = (folder / "metrics.jsonl").read_bytes().count(b'"loss')
        return rows > 0 and any((folder / "checkpoints").glob("*.json"))
    return False


def _ended(code: int) -> str:
    return f"ended by signal {-code}" if code < 0 else f"ended with code {code}"

"""Runs on a Ray cluster: a task each, with the resources it asks for, in a folder that all its machines share."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ambs.bench.cells import Cell
from ambs.bench.child import start
from ambs.errors import AmbsError

# Of a run that was stopped before it began, or whose machine is gone.
_CANCELLED, _LOST = 143, 1
_PAUSE = 0.1


class Task:
    """A run that Ray was given."""

    def __init__(self, ray: Any, reference: Any, log: Path) -> None:
        self._ray, self._reference, self._log = ray, reference, log

    def poll(self) -> int | None:
        try:
            done, _ = self._ray.wait([self._reference], timeout=0)
            return int(self._ray.get(self._reference)) if done else None
        except self._ray.exceptions.TaskCancelledError:
            return _CANCELLED
        except self._ray.exceptions.RayError as error:
            # The other runs go on, whatever has become of the folder.
            with contextlib.suppress(OSError), self._log.open("a", encoding="utf-8") as log:
                print(f"the run was lost: {' '.join(str(error).split())}", file=log)
            return _LOST

    def stop(self) -> None:
        self._ray.cancel(self._reference, force=False)

    def kill(self) -> None:
        self._ray.cancel(self._reference, force=True)


class Cluster:
    """The cluster that RAY_ADDRESS names or that runs here; if there is none, one is started on this machine.

    Args:
        slots: How many runs Ray is given at once; it starts as many of them as it has resources for.
        cpus: Cores of each run.
        gpus: Accelerators of each; parts of one, too.
        environment: Variables that the runs have other than their machines'.
    """

    def __init__(self, slots: int, cpus: float, gpus: float, environment: Mapping[str, str]) -> None:
        try:
            import ray
        except ImportError as error:
            raise AmbsError("--on ray needs Ray, which is not installed; pip install 'ambs[ray]'.") from error
        there = _resources(ray)
        for name, asked in (("CPU", cpus), ("GPU", gpus)):
            if asked > there.get(name, 0):
                raise AmbsError(
                    f"every run is to have {asked:g} of the resource {name}, and the whole Ray cluster has "
                    f"{there.get(name, 0):g}; ask for less with --{name.lower()}s-per-run."
                )
        self.slots, self._ray, self._environment = slots, ray, dict(environment)
        # A run that fails is tried again by us, from its checkpoint and not without end.
        self._task = ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=0)(run_here)

    def start(self, cell: Cell, log: Path) -> Task:
        # Here, for a run that is lost before its machine has made the folder has to be told of too.
        log.parent.mkdir(parents=True, exist_ok=True)
        return Task(self._ray, self._task.remote(cell.arguments, str(log), self._environment), log)


def _resources(ray: Any) -> dict[str, float]:
    """What the cluster has in all, once we are part of it."""
    try:
        ray.init(ignore_reinit_error=True, log_to_driver=False, logging_level=logging.ERROR)
        return dict(ray.cluster_resources())
    # Another version of Ray or Python there, nobody who answers, no address; and whatever Ray calls its own.
    except (RuntimeError, ValueError, OSError, ray.exceptions.RayError) as error:
        address = os.environ.get("RAY_ADDRESS")
        where = f"the Ray cluster at {address} (RAY_ADDRESS)" if address else "Ray on this machine"
        why = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise AmbsError(
            f"{where} cannot be used: {why}; see that it runs, with the same versions of Ray and Python, or name "
            "another in RAY_ADDRESS."
        ) from error


def run_here(arguments: Sequence[str], log: str, environment: Mapping[str, str]) -> int:
    """What a machine of the cluster does: the run, to its end; or, if it is cancelled, to its next checkpoint."""
    process = start(arguments, Path(log), environment)
    try:
        # Ray cancels a task by an exception between two lines of Python; a call that blocks would not see it.
        while (code := process.poll()) is None:
            time.sleep(_PAUSE)
        return code
    except BaseException:
        process.terminate()
        process.wait()
        raise

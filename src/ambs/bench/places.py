"""Where runs are run: here, so many side by side; `ambs.bench.cluster` sends them to a Ray cluster instead."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from ambs.bench.cells import Cell
from ambs.bench.child import start
from ambs.cores import cores
from ambs.errors import AmbsError


@runtime_checkable
class Handle(Protocol):
    """A run that was started."""

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""

    def stop(self) -> None:
        """Asks it to save itself and to end."""

    def kill(self) -> None:
        """Ends it as it is."""


@runtime_checkable
class Place(Protocol):
    """Where runs are started."""

    slots: int
    """How many at once."""

    def start(self, cell: Cell, log: Path) -> Handle:
        """Starts the run, from its checkpoint if it has one; what it says is added to `log`."""


class Process:
    """A child of this process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        return self._process.poll()

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        # With the processes that step its environments, if it has any.
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)


class Here:
    """This machine: `slots` runs side by side, each on so many cores of its own.

    Args:
        slots: How many.
        cpus: Cores of each.
        environment: Variables that the runs have other than ours.
        gpus: As CUDA_VISIBLE_DEVICES calls them. Every run has as many as any other, of its own as long as there are
            enough of them.
    """

    def __init__(self, slots: int, cpus: int, environment: Mapping[str, str], gpus: Sequence[str] = ()) -> None:
        self.slots, self._environment = slots, environment
        there = cores()
        if slots * cpus > len(there):
            raise AmbsError(
                f"{slots} runs side by side on {cpus} cores each need {slots * cpus} cores, and there are "
                f"{len(there)}; choose a smaller --jobs or --cpus-per-run."
            )
        self._groups = [there[slot * cpus : (slot + 1) * cpus] for slot in range(slots)]
        each = max(1, len(gpus) // slots)
        shares = [
            [gpus[at % len(gpus)] for at in range(slot * each, (slot + 1) * each) if gpus] for slot in range(slots)
        ]
        self._gpus = [{"CUDA_VISIBLE_DEVICES": ",".join(share)} if share else {} for share in shares]
        self._taken: list[Process | None] = [None] * slots

    def start(self, cell: Cell, log: Path) -> Process:
        free = next(slot for slot, by in enumerate(self._taken) if by is None or by.poll() is not None)
        environment = {**self._environment, **self._gpus[free]}
        process = Process(start(cell.arguments, log, environment, self._groups[free]))
        self._taken[free] = process
        return process

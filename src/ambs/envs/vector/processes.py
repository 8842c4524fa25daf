"""Environments in processes of their own, their rows in memory that all share: for simulators that take their time.

The processes are fresh interpreters, since JAX does not survive a fork; and they are started without multiprocessing,
which would import the trainer's script in each of them (and JAX with it) and ask for a `__main__` guard there. The
shared memory is a file without a name, so that nothing can be left behind however a process ends.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray

from ambs.envs.vector.arrays import NOTHING, Description, Layout, layout
from ambs.envs.vector.messages import RUN, answer_from_json, receive, send
from ambs.envs.vector.slots import Failure, Maker
from ambs.envs.vector.worker import BOOTSTRAP
from ambs.errors import AmbsError

# As many processes as cores, and each with one thread: libraries that start a thread a core would fight.
_ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENCV_FOR_THREADS_NUM": "1",
}

# How long a worker may take to close its environments before it is ended.
_PATIENCE_SECONDS = 5


class Processes:
    """The environments shared out over worker processes, as evenly as their number allows."""

    def __init__(self, makers: Sequence[Maker], description: Description, workers: int) -> None:
        if os.name != "posix":
            raise AmbsError('worker processes need Linux or macOS; give workers="inline".')
        place = layout(description, len(makers))
        memory = _nameless_file(place.size)
        # Ended by garbage collection or at the interpreter's end, if nobody closes us.
        self._closing = weakref.finalize(self, _close, memory, running := [])
        self.arrays: dict[str, NDArray[Any]] = place.view(mmap.mmap(memory, place.size))
        running += [
            _Worker(makers[shares[0] : shares[-1] + 1], int(shares[0]), description, place, memory)
            for shares in np.array_split(np.arange(len(makers)), workers)
        ]
        self._workers = running

    def run(self) -> list[Failure]:
        """Does what "todo" says, in all processes at once; see `Slots.run`."""
        asked = [worker for worker in self._workers if any(self.arrays["todo"][i] != NOTHING for i in worker.envs)]
        for worker in asked:
            worker.begin()
        # Every answer is taken before any is judged: none may be left in a pipe for the next step to find.
        answers = [worker.receive() for worker in asked]
        failures = []
        for answer in answers:
            if isinstance(answer, AmbsError):
                raise answer
            failures += answer
        return failures

    @property
    def pids(self) -> list[int]:
        """The process of each worker."""
        return [worker.pid for worker in self._workers]

    def close(self) -> None:
        self._closing()


class _Worker:
    """One process and its share of the environments; started again, when it is gone, at the next command."""

    def __init__(
        self, makers: Sequence[Maker], start: int, description: Description, place: Layout, memory: int
    ) -> None:
        self.envs = range(start, start + len(makers))
        # By value, so that functions of a script or a notebook reach a process that does not import it.
        packed, described = cloudpickle.dumps(list(makers)), cloudpickle.dumps(description)
        self._set_up = (packed, start, described, place, memory)
        self._process = self._start()
        self._gone = False

    @property
    def pid(self) -> int:
        return self._process.pid

    def begin(self) -> None:
        if self._gone:
            self._process = self._start()
            self._gone = False
        _write(self._process, lambda stdin: send(stdin, RUN))

    def receive(self) -> list[Failure] | AmbsError:
        """Which environments failed; all of them, if the process is gone."""
        assert self._process.stdout is not None
        try:
            return answer_from_json(receive(self._process.stdout))
        except (EOFError, ValueError):
            self._gone = True
            self._process.kill()
            reason = _ending(self._process.wait())
            self.close()
            return [Failure(index, reason) for index in self.envs]

    def _start(self) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-c", BOOTSTRAP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[self._set_up[-1]],
            env={**_ONE_THREAD, **os.environ},
            # Ctrl-C in a terminal goes to all of a group: who stops the run is asked, and not those who work for it.
            process_group=0,
        )
        _write(process, lambda stdin: send(stdin, sys.path))
        _write(process, lambda stdin: pickle.dump(self._set_up, stdin))
        return process

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            try:
                stream.close()
            except BrokenPipeError:
                continue

    def end(self) -> None:
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _write(process: subprocess.Popen[bytes], say: Callable[[Any], None]) -> None:
    assert process.stdin is not None
    try:
        say(process.stdin)
        process.stdin.flush()
    except BrokenPipeError:
        # The process is gone, which whoever waits for its answer will find, and say how.
        return


def _close(memory: int, workers: list[_Worker]) -> None:
    for worker in workers:
        worker.close()
    for worker in workers:
        worker.end()
    os.close(memory)


def _nameless_file(size: int) -> int:
    """A file in memory, or on disk where the system has none such, that no path leads to."""
    if hasattr(os, "memfd_create"):
        memory = os.memfd_create("ambs")
    else:
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, size)
    return memory


def _ending(code: int) -> str:
    if code >= 0:
        return f"its process ended with exit code {code}"
    return f"its process was killed by {signal.Signals(-code).name}"

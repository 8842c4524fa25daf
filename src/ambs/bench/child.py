"""`ambs` as the child of a bench: when who started it is gone, it saves itself and ends, as at SIGTERM.

    python -m ambs.bench.child PARENT train conveyor --agent dreamer ...

Without this a bench that is killed would leave runs behind that nobody sees, and that keep their folders.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from ambs.cores import ONE_THREAD, with_flags

# One core a run.
ONE_CORE = {"XLA_FLAGS": ONE_THREAD, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# Of a smoke test: a run that takes a moment would be at its end before it could be killed.
TO_BE_KILLED = {"AMBS_TO_BE_KILLED": "1"}
_WAITS = 60.0
# Where a program runs for a moment, most of the time is its compilation.
QUICK = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
_PR_SET_PDEATHSIG = 1


def start(
    arguments: Sequence[str], log: Path, environment: Mapping[str, str], cores: Sequence[int] | None = None
) -> subprocess.Popen[bytes]:
    """Starts `ambs` with these arguments, what it says added to `log`.

    Args:
        arguments: Of the command line.
        log: A file, made if it is not there.
        environment: Variables that are other than ours; flags of XLA are added to ours.
        cores: That it may use; any, if not given.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "ambs.bench.child", str(os.getpid()), *arguments],
            env=ours_with(environment), stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            # Ctrl-C goes to us alone, and we pass it on once: a second would cut the last checkpoint short.
            start_new_session=True,
        )  # fmt: skip
    if cores is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process.pid, cores)
    return process


def ours_with(environment: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with other variables; of XLA_FLAGS what the user has set stays."""
    found = {**os.environ, **environment}
    if "XLA_FLAGS" in environment:
        found["XLA_FLAGS"] = with_flags(os.environ.get("XLA_FLAGS", ""), environment["XLA_FLAGS"])
    return found


def end_with(parent: int) -> None:
    """From now on SIGTERM comes when the parent ends; at once, if it has already. Only Linux can do this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(128 + signal.SIGTERM)


def wait_to_be_killed() -> None:
    """From now on a run waits where a bench kills it: at its first checkpoint that gradient steps have gone into.

    Not for ever, for who started it may have other plans; and no longer than until it is asked to stop.
    """
    from ambs.runs.dreamer.interruption import Interruption
    from ambs.runs.dreamer.run import Run
    from ambs.runs.dreamer.status import Progress, Status

    train = Run.train

    def train_and_wait(run: Run, progress: Progress, interruption: Interruption) -> None:
        # It has been killed, and goes on.
        due = run.counters.updates == 0

        def then_wait(status: Status) -> None:
            nonlocal due
            progress(status)
            if due and run.counters.updates > 0 and run.checkpoint_step == run.counters.steps:
                due, until = False, time.monotonic() + _WAITS
                while interruption.signal is None and time.monotonic() < until:
                    time.sleep(0.05)

        train(run, then_wait, interruption)

    setattr(Run, "train", train_and_wait)  # noqa: B010  (mypy would not have a method replaced)


def main() -> None:
    end_with(int(sys.argv[1]))
    sys.argv = ["ambs", *sys.argv[2:]]
    if TO_BE_KILLED.items() <= os.environ.items():
        wait_to_be_killed()
    from ambs.cli import run

    run()


if __name__ == "__main__":
    main()

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
from collections.abc import Mapping, Sequence
from pathlib import Path

# One core a run: XLA's own threads would take all.
ONE_CORE = {"XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
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
        environment: Variables that are other than ours.
        cores: That it may use; any, if not given.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "ambs.bench.child", str(os.getpid()), *arguments],
            env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            # Ctrl-C goes to us alone, and we pass it on once: a second would cut the last checkpoint short.
            start_new_session=True,
        )  # fmt: skip
    if cores is not None and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(process.pid, cores)
    return process


def end_with(parent: int) -> None:
    """From now on SIGTERM comes when the parent ends; at once, if it has already. Only Linux can do this."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        raise SystemExit(128 + signal.SIGTERM)


def main() -> None:
    end_with(int(sys.argv[1]))
    sys.argv = ["ambs", *sys.argv[2:]]
    from ambs.cli import run

    run()


if __name__ == "__main__":
    main()

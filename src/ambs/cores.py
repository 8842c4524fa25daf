"""The cores that this process may use, which in a container or a bench are not all that there are; and how XLA is told
to use one.
"""

from __future__ import annotations

import os

# XLA's own threads would take all cores.
ONE_THREAD = "--xla_cpu_multi_thread_eigen=false"


def cores() -> list[int]:
    """Their numbers. Where the system does not tell which (macOS), as many as there are, and at least one."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def with_flags(given: str, more: str) -> str:
    """XLA_FLAGS with `more`, but for flags that are given already: what the user says of them stands."""
    names = {flag.partition("=")[0] for flag in given.split()}
    return " ".join([*given.split(), *(flag for flag in more.split() if flag.partition("=")[0] not in names)])

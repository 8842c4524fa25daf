"""The cores that this process may use, which in a container or a bench are not all that there are."""

from __future__ import annotations

import os


def cores() -> list[int]:
    """Their numbers. Where the system does not tell which (macOS), as many as there are, and at least one."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))

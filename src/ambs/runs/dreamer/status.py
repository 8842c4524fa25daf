"""How far a run has come, for whoever wants to show it."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Status(NamedTuple):
    """A run at one moment."""

    doing: str
    """"starting", once; then "collecting" before learning begins, "compiling", "pretraining" while it learns from what
    was collected or given, "learning". Of a run that has all its steps already, "done" is all that is told."""
    steps: int
    total: int
    episodes: int
    violations: int
    updates: int
    recent_return: float | None
    """The mean over the last twenty episodes."""
    note: str = ""
    """What has happened just now and is said once."""
    due: int = 0
    """While pretraining, the updates that there will be before the agent acts."""
    what: str = "gradient step"
    """While compiling, what of; the first of its kind."""


# Told at every step of the vector; it must not take long.
Progress = Callable[[Status], None]


def nobody(status: Status) -> None:
    """Shows nothing."""

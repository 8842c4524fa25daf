"""The command line as it was typed, for runs and reports to tell what made them: with no path but those that it has."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

_TYPED: ContextVar[tuple[str, ...] | None] = ContextVar("typed", default=None)


@contextlib.contextmanager
def typed(arguments: Sequence[str]) -> Iterator[None]:
    """Within, `command_line` is `ambs` with these arguments."""
    before = _TYPED.set(tuple(arguments))
    try:
        yield
    finally:
        _TYPED.reset(before)


def command_line() -> str | None:
    """Such that a shell would read it again; None if nothing was typed, but a command was called from Python."""
    words = _TYPED.get()
    return None if words is None else shlex.join(["ambs", *words])

"""How far a run has come: a live bar where there is a terminal, a line now and then where there is none."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from ambs.commands.output import console

if TYPE_CHECKING:
    from ambs.runs.dreamer import Status

# Between lines, and between updates of the bar.
LINE_SECONDS, BAR_SECONDS = 10.0, 0.2


@contextlib.contextmanager
def display() -> Iterator[Callable[[Status], None]]:
    """What shows a run on standard error, as long as it is entered."""
    if not sys.stderr.isatty():
        lines = Lines()
        yield lines
        lines.end()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[numbers]}"),
    )
    with Progress(*columns, console=console(stderr=True)) as bar:
        yield Bar(bar)


class Speed:
    """Steps per second of late, of what is being done: collecting says nothing about learning, nor does compiling."""

    def __init__(self) -> None:
        self._doing = ""
        self._marks: list[tuple[float, int]] = []

    def __call__(self, doing: str, steps: int) -> float | None:
        """The mean of the last minute or so; None while there is nothing to go by."""
        now = time.monotonic()
        if doing != self._doing:
            self._doing, self._marks = doing, []
        if not self._marks or now - self._marks[-1][0] > 1:
            self._marks = [*self._marks[-60:], (now, steps)]
        then, before = self._marks[0]
        return (steps - before) / (now - then) if now > then and steps > before else None


class Lines:
    """One line every ten seconds, and a last one."""

    def __init__(self) -> None:
        self._speed, self._last = Speed(), time.monotonic()
        self._status: Status | None = None

    def __call__(self, status: Status) -> None:
        self._status = status
        speed = self._speed(status.doing, status.steps)
        if status.note:
            _print(status.note)
        if status.doing == "compiling" or time.monotonic() - self._last > LINE_SECONDS:
            self._last = time.monotonic()
            _print(sentence(status, speed))

    def end(self) -> None:
        if self._status is not None:
            _print(sentence(self._status, self._speed(self._status.doing, self._status.steps)))


class Bar:
    """A bar of Rich."""

    def __init__(self, bar: Progress) -> None:
        self._bar, self._speed, self._last, self._doing = bar, Speed(), 0.0, ""
        self._task = bar.add_task("starting", total=None, numbers="")

    def __call__(self, status: Status) -> None:
        if status.note:
            self._bar.console.print(status.note, markup=False)
        speed, now = self._speed(status.doing, status.steps), time.monotonic()
        if status.doing != self._doing or now - self._last > BAR_SECONDS or status.steps >= status.total:
            self._last, self._doing = now, status.doing
            self._bar.update(
                self._task, description=status.doing, completed=status.steps, total=status.total,
                numbers=numbers(status, speed),
            )  # fmt: skip


def sentence(status: Status, speed: float | None) -> str:
    if status.doing == "compiling":
        return f"step {status.steps:,}: compiling the first {status.what}; this takes a while, the first time"
    if status.doing == "pretraining":
        return f"step {status.steps:,}: {numbers(status, speed)}"
    return f"step {status.steps:,} of {status.total:,}, {numbers(status, speed)}"


def numbers(status: Status, speed: float | None) -> str:
    """Return, violations, speed and the time that is left, as far as they are known."""
    if status.doing == "pretraining":
        return f"update {status.updates:,} of {status.due:,} before the agent acts"
    parts = [] if status.recent_return is None else [f"return {status.recent_return:.3g}"]
    parts.append(f"{status.violations:,} violations")
    if speed is not None:
        left = max(status.total - status.steps, 0) / speed
        parts += [f"{speed:.3g} steps/s", f"{duration(left)} left"]
    return ", ".join(parts)


def duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}"


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

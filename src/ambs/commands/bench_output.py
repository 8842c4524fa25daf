"""What `ambs bench` shows: its plan, how its runs go, and what came of them."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table

from ambs.commands.output import console, short

if TYPE_CHECKING:
    from ambs.bench.conduct import Job, Show
    from ambs.bench.plan import Planned

# Between lines that say how far runs are, and between updates of the live table.
LINE_SECONDS, LIVE_SECONDS = 30.0, 0.5


@contextlib.contextmanager
def display() -> Iterator[Show]:
    """What shows the runs on standard error: a live table of those under way, or lines where there is no terminal."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    with Live(console=console(stderr=True), auto_refresh=False, transient=True) as live:
        yield Running(live)


class Lines:
    """A line for whatever happens, and now and then one for every run under way."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, jobs: Sequence[Job], sentence: str) -> None:
        if sentence:
            _print(f"{_count(jobs)}  {sentence}")
        elif time.monotonic() - self._last > LINE_SECONDS:
            self._last = time.monotonic()
            for job in jobs:
                if job.state == "running":
                    _print(f"{job.cell.name}: {_numbers(job)}")


class Running:
    """A table of the runs under way, renewed in place."""

    def __init__(self, live: Live) -> None:
        self._live, self._last = live, 0.0

    def __call__(self, jobs: Sequence[Job], sentence: str) -> None:
        if sentence:
            self._live.console.print(sentence, markup=False)
        if not sentence and time.monotonic() - self._last < LIVE_SECONDS:
            return
        self._last = time.monotonic()
        table = Table("run", "so far", title=_count(jobs))
        for job in jobs:
            if job.state == "running":
                table.add_row(job.cell.name, _numbers(job))
        self._live.update(table, refresh=True)


def _count(jobs: Sequence[Job]) -> str:
    return f"{sum(job.state == 'finished' for job in jobs)} of {len(jobs)} finished"


def _numbers(job: Job) -> str:
    from ambs.bench.watching import seen

    now = seen(job.cell.folder)
    parts = [f"step {now.step:,} of {job.cell.steps:,}"]
    if now.recent_return is not None:
        parts.append(f"return {now.recent_return:.3g}")
    return ", ".join([*parts, f"{now.violations:,} violations"])


def print_plan(planned: Sequence[Planned], about: str, machine: str, utilisation: float) -> None:
    out = _wide()
    out.print(about, markup=False)
    for each in planned:
        print(each.cell.command)
    here = any(each.hours_here is not None for each in planned)
    headings = ["weights, M", "PFLOP", "accelerator GB", "replay GB", "disk GB", f"hours, {machine}"]
    table = _table(*headings, *(["hours here"] if here else []))
    for each in planned:
        table.add_row(each.cell.name, each.state, *_row(each), *([short(each.hours_here)] if here else []))
    unfinished = [each for each in planned if each.state != "finished"]
    table.add_row(
        f"{len(unfinished)} to run", "", "", _number(sum(each.estimate.flops for each in unfinished) / 1e15), "",
        _number(sum(each.estimate.replay_bytes for each in unfinished) / 1e9),
        _number(sum(each.estimate.disk_bytes for each in unfinished) / 1e9),
        _number(sum(each.hours for each in unfinished)),
        *([short(sum(each.hours_here or 0 for each in unfinished))] if here else []),
    )  # fmt: skip
    out.print(table)
    out.print(
        f"Hours are of the products alone, at {utilisation:.0%} of the peak rate: an assumption, not a measurement. "
        "Environments are not counted. On the accelerator are weights, slow copies, moments and a gradient; the "
        "activations of a gradient step are not counted. The replay is in files on the host, and part of the disk.",
        markup=False,
    )


def _table(*headings: str) -> Table:
    """Whose first columns are the runs and their states, which are never cut short."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for heading in ("run", "state"):
        table.add_column(heading, no_wrap=True)
    for heading in headings:
        table.add_column(heading)
    return table


def _wide() -> Console:
    """Wide enough for the tables where there is no terminal to fit."""
    out = console()
    out.width = out.width if out.is_terminal else max(out.width, 120)
    return out


def _row(each: Planned) -> list[str]:
    found = each.estimate
    gigabytes = (size / 1e9 for size in (found.accelerator_bytes, found.replay_bytes, found.disk_bytes))
    return [_number(found.parameters / 1e6), _number(found.flops / 1e15), *map(_number, gigabytes), _number(each.hours)]


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def print_results(jobs: Sequence[Job], tries: Mapping[str, int], *, smoke: bool = False) -> None:
    """A row a run, with the mean return of its last 100 episodes and the best, and how often it was started again after
    a crash, by all commands (`tries`); of a smoke test also whether it was killed; and of those that failed the last
    that they said. Of a run that has not ended, how far it is."""
    from ambs.bench.watching import seen

    out = _wide()
    killed = ["killed"] if smoke else []
    table = _table("steps", "episodes", "final", "best", "violations", "overridden", *killed, "retries")
    for job in jobs:
        summary = job.summary
        if summary is None:
            now = seen(job.cell.folder)
            summary = {"steps": now.step, "violations": now.violations} if now.step else {}
        values = [
            short(summary.get(key)) if key in summary else ""
            for key in ("steps", "episodes", "final_return", "best_return", "violations", "override_rate")
        ]
        values += ["once" if job.killed else "no"] if smoke else []
        table.add_row(job.cell.name, job.state, *values, str(tries.get(job.cell.name, 0) or ""))
    out.print(table)
    for job in jobs:
        if job.state == "failed":
            _print(f"{job.cell.name} did not finish; the end of {job.log}:")
            for line in job.last_words():
                _print(f"    {line}")


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)

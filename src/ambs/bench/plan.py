"""What a suite will do and take, before it does: every command, and estimates of operations, memory, disk and hours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ambs.bench.cells import Cell
from ambs.bench.conduct import Job
from ambs.bench.estimate import Estimate, estimate
from ambs.bench.machines import Machine
from ambs.bench.watching import seen
from ambs.errors import AmbsError
from ambs.runs.value.config import ValueRunConfig


@dataclass(frozen=True)
class Planned:
    """One run of the plan."""

    cell: Cell
    state: str
    estimate: Estimate
    hours: float
    """On the machine that was named."""
    hours_here: float | None
    """On this one, where a run of the same game and agent has been measured; what is left of it."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.cell.name, "command": self.cell.command, "state": self.state, **self.estimate.as_json(),
            "hours": self.hours, "hours_here": self.hours_here,
        }  # fmt: skip


def plan(jobs: Sequence[Job], machine: Machine, utilisation: float) -> list[Planned]:
    """Of all jobs, finished ones too.

    Args:
        jobs: As they are now.
        machine: Whose peak rates hours are computed from.
        utilisation: The share of the peak that is reached.
    """
    if not 0 < utilisation <= 1:
        raise AmbsError(f"--utilisation is {utilisation:g}, and has to be above 0 and at most 1.")
    rates = _measured(jobs)
    return [_planned(job, machine, utilisation, rates) for job in jobs]


def _planned(job: Job, machine: Machine, utilisation: float, rates: dict[tuple[str, str], float]) -> Planned:
    cell = job.cell
    try:
        found = estimate(cell.settings)
    except AmbsError as error:
        # What only the environment knows, as which atoms a formula may have.
        raise AmbsError(f"{cell.game}, {cell.agent}: {error}") from error
    peak = machine.float32 if isinstance(cell.settings, ValueRunConfig) else machine.bfloat16
    left = 0 if job.state == "finished" else max(0, cell.steps - seen(cell.folder).step)
    rate = rates.get((cell.game, cell.agent))
    hours = found.flops / (peak * 1e12 * utilisation) / 3600
    return Planned(cell, job.state, found, hours, None if rate is None else left / rate / 3600)


def _measured(jobs: Sequence[Job]) -> dict[tuple[str, str], float]:
    """Steps a second by game and agent, of runs in the same folder: finished ones first, then those under way."""
    rates: dict[tuple[str, str], float] = {}
    for job in jobs:
        kind = job.cell.game, job.cell.agent
        if job.summary is not None and job.summary["wall_seconds"] > 0:
            rates[kind] = job.summary["steps"] / job.summary["wall_seconds"]
        elif kind not in rates and (rate := seen(job.cell.folder).steps_per_second):
            rates[kind] = rate
    return rates

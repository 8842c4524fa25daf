"""All experiments, one after the other, under one progress bar."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track

from ambs.verify import (
    calibration,
    counterexamples,
    learned,
    negligible,
    theorem1,
    theorem2,
    theorem3,
    theorem3_models,
)
from ambs.verify.settings import Job, Settings, Tables

EXPERIMENTS: dict[str, Callable[[Settings], list[Job]]] = {
    "theorem 1": theorem1.jobs,
    "theorem 2": theorem2.jobs,
    "theorem 3": theorem3.jobs,
    "learned models": learned.jobs,
    "calibration": calibration.jobs,
    "counterexamples": counterexamples.jobs,
    "theorem 3, whole models": theorem3_models.jobs,
    "theorem 3, negligible actions": negligible.jobs,
}


def verify(settings: Settings) -> Tables:
    """The rows of every table. Each job draws from a generator of its own, seeded by its place."""
    jobs = [
        (place, number, job)
        for place, experiment in enumerate(EXPERIMENTS.values())
        for number, job in enumerate(experiment(settings))
    ]
    tables: Tables = {}
    # On standard error, so that standard output has the answer alone.
    bar = track(jobs, description="verifying the theorems", transient=True, console=Console(stderr=True))
    for place, number, job in bar:
        for name, rows in job(np.random.default_rng([settings.seed, place, number])).items():
            tables.setdefault(name, []).extend(rows)
    return tables

"""`ambs bench`: a whole comparison, run after run, gone on with whenever it was stopped."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from ambs.commands.bench_output import display, print_plan, print_results
from ambs.commands.output import print_json
from ambs.commands.typed import command_line
from ambs.cores import cores
from ambs.errors import AmbsError, positive_integer

if TYPE_CHECKING:
    from ambs.bench.cells import Cell
    from ambs.bench.conduct import Job
    from ambs.bench.places import Place
    from ambs.bench.suite import Suite


@dataclass(frozen=True)
class Bench:
    """Run a suite: games x agents x seeds, a training run each, `ambs train` all of them.

    The same command goes on where it was stopped: finished runs are left as they are, others go on from their last
    checkpoint, and one that crashes is started again. docs/bench.md says what the suites are and how to write one.
    """

    suite: tyro.conf.Positional[str]
    """paper, paper-short, minatar, conveyor or smoke; or a YAML file of your own."""

    out: Path | None = None
    """The folder for the runs; runs/bench-SUITE if not given."""

    only: tuple[str, ...] = ()
    """Names of games and agents of the suite, if not all are to run."""

    seeds: tuple[int, ...] = ()
    """Seeds, if not the suite's."""

    steps: int | None = None
    """Steps of every run, if not the suite's."""

    jobs: int | None = None
    """Runs side by side; one for each GPU if not given, and without GPUs one for each core (or for every
    --cpus-per-run of them). With --on ray as many as the cluster has room for."""

    retries: int = 2
    """How often a run that crashes is started again, from its checkpoint."""

    reuse: tuple[Path, ...] = ()
    """Folders with finished runs of earlier work: those with the same configuration, seed and steps are linked to."""

    smoke: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Every run as small as can be and for 160 steps, killed half-way and resumed, in runs/bench-SUITE-smoke if --out
    is not given: shows that every cell works."""

    dry_run: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """Only print the plan: every command, and estimates of operations, memory, disk and hours."""

    gpu: str = "a30"
    """For the plan, whose hours to estimate: a30 (the paper's), a100, h100, l4, rtx3090 or rtx4090."""

    gflops: float | None = None
    """For the plan, the peak rate of another machine, in 10^9 operations a second."""

    utilisation: float = 0.25
    """For the plan, the share of the peak rate that is reached."""

    on: Literal["here", "ray"] = "here"
    """Where to run: on this machine, or on a Ray cluster (RAY_ADDRESS, or one that is started here) whose machines
    all see --out."""

    cpus_per_run: float = 1.0
    """Cores of each run; here a whole number."""

    gpus_per_run: float = 0.0
    """Accelerators that a run asks of the Ray cluster; parts of one, too."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the result as one JSON object."""

    def run(self) -> None:
        # Slow to import, and the other commands do without. Accelerators are for the runs: plans are made on the CPU.
        import jax

        jax.config.update("jax_platforms", "cpu")
        from ambs.bench.cells import cells
        from ambs.bench.conduct import alone

        suite = self._suite()
        default = Path("runs") / f"bench-{suite.name}{'-smoke' if self.smoke else ''}"
        out = (self.out or default).absolute() if self.on == "ray" else self.out or default
        # What cannot be is refused before there is a folder.
        found = cells(suite, out)
        for cell in found:
            _ = cell.settings
        if self.dry_run:
            self._plan(suite, _jobs(found, out, self.reuse, dry=True))
            return
        if self.retries < 0:
            raise AmbsError(f"--retries is {self.retries}, and has to be at least 0.")
        with alone(out):
            self._conduct(suite, found, out)

    def _suite(self) -> Suite:
        from ambs.bench import read
        from ambs.bench.smoke import STEPS as SMOKE_STEPS

        suite = read(self.suite).only(self.only)
        if self.steps is not None:
            positive_integer("--steps", self.steps)
            if suite.smoke or self.smoke:
                raise AmbsError(
                    f"--steps is {self.steps:,}, and every run of a smoke test has {SMOKE_STEPS}; leave --steps out, "
                    "or run the suite without --smoke."
                )
            entries = (
                tuple(dataclasses.replace(entry, steps=None) for entry in each) for each in (suite.games, suite.agents)
            )
            games, agents = entries
            suite = dataclasses.replace(suite, steps=self.steps, games=games, agents=agents)
        if self.seeds:
            if len(set(self.seeds)) < len(self.seeds) or not all(0 <= seed < 2**32 for seed in self.seeds):
                raise AmbsError("--seeds has to have whole numbers from 0 to 2^32 - 1, none of them twice.")
            suite = dataclasses.replace(suite, seeds=self.seeds)
        return dataclasses.replace(suite, smoke=suite.smoke or self.smoke)

    def _plan(self, suite: Suite, jobs: Sequence[Job]) -> None:
        from ambs.bench.machines import machine
        from ambs.bench.plan import plan

        named = machine(self.gpu, self.gflops)
        planned = plan(jobs, named, self.utilisation)
        if self.json:
            told = {"suite": suite.name, "machine": named._asdict(), "utilisation": self.utilisation}
            print_json({**told, "runs": [each.as_json() for each in planned]})
        else:
            print_plan(planned, suite.about, named.name, self.utilisation)

    def _conduct(self, suite: Suite, found: Sequence[Cell], out: Path) -> None:
        from ambs.bench.conduct import conduct
        from ambs.bench.record import Record

        jobs = _jobs(found, out, self.reuse)
        record = Record(suite, jobs, out)
        place = self._place(jobs, smoke=suite.smoke)
        with display() as show:
            for job in jobs:
                if job.state == "finished" and job.cell.folder.is_symlink():
                    show(jobs, f"{job.cell.name}: is {job.cell.folder.readlink()}")

            def keep_and_show(jobs: Sequence[Job], sentence: str) -> None:
                record.keep_up()
                show(jobs, sentence)

            kill = suite.smoke and self.on == "here"
            signal = conduct(jobs, place, retries=self.retries, show=keep_and_show, kill=kill)
        told = record.write()
        if not self.json:
            tries = {run["name"]: run["tries"] for run in told["runs"]}
            print_results(jobs, tries, smoke=suite.smoke)
        page = self._report(jobs, out)
        if self.json:
            print_json({**told, "report": None if page is None else str(page)})
        elif page is not None:
            print(f"\nreport: {page}")
        if any(job.state != "finished" for job in jobs):
            raise SystemExit(1 if signal is None else 128 + signal)

    def _report(self, jobs: Sequence[Job], out: Path) -> Path | None:
        """All runs in the folder on one page, those of earlier commands for other parts of the suite too; nothing, as
        long as none is finished, or where it cannot be made: the runs are there all the same."""
        from ambs.report import write

        if not any(job.state == "finished" for job in jobs):
            return None
        page = out / "report.html"
        try:
            write(out, page, command=command_line() or f"ambs bench {self.suite}")
        except (AmbsError, OSError) as error:
            print(f"warning: there is no report of the runs: {error}", file=sys.stderr)
            return None
        return page

    def _place(self, jobs: Sequence[Job], *, smoke: bool) -> Place:
        from ambs.bench.accelerators import accelerators
        from ambs.bench.child import ONE_CORE, QUICK, TO_BE_KILLED
        from ambs.bench.places import Here

        if self.jobs is not None:
            positive_integer("--jobs", self.jobs)
        if not self.cpus_per_run > 0 or not self.gpus_per_run >= 0:
            raise AmbsError("--cpus-per-run has to be more than 0, and --gpus-per-run at least 0.")
        environment = {**(ONE_CORE if self.cpus_per_run <= 1 else {}), **(QUICK if smoke else {})}
        environment |= TO_BE_KILLED if smoke and self.on == "here" else {}
        if self.on == "ray":
            from ambs.bench.cluster import Cluster

            return Cluster(self.jobs or len(jobs), self.cpus_per_run, self.gpus_per_run, environment)
        if self.gpus_per_run:
            raise AmbsError("--gpus-per-run is for --on ray; here --jobs runs share all of them out.")
        cpus = positive_integer("--cpus-per-run, of runs on this machine,", self.cpus_per_run)
        gpus, room = accelerators(), max(1, len(cores()) // cpus)
        return Here(self.jobs or min(room, len(gpus) or room), cpus, environment, gpus)


def _jobs(found: Sequence[Cell], out: Path, reuse: Sequence[Path], *, dry: bool = False) -> list[Job]:
    """All runs, with what is there of them; an error, if another run is in the place of one. What can be reused is
    linked to; not if it is dry, but then it is finished all the same."""
    from ambs.bench.conduct import Job
    from ambs.bench.reuse import reusable
    from ambs.bench.reuse import reuse as link

    elsewhere = reusable(found, reuse) if dry else link(found, reuse)
    jobs = [Job(cell, out / "logs" / f"{cell.name}.log") for cell in found]
    for job in jobs:
        place = elsewhere.get(job.cell.name)
        job.summary = job.cell.summary() if place is None else job.cell.summary_in(place)
        job.state = "waiting" if job.summary is None else "finished"
    return jobs

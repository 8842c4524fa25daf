"""`ambs train`: trains a shielded agent, says what happened, and leaves the numbers and a picture in a run folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.files import write_text

if TYPE_CHECKING:
    from ambs.runs.tabular.training import Training
    from ambs.tabular.agent import Step


@dataclass(frozen=True)
class Train:
    """Train tabular AMBS in a conveyor world, with its shield and, to compare, without.

    The agent counts its own model, plans a task and a backup policy on it, and asks the shield before every action.
    Leaves summary.json (settings and numbers), metrics.json (every 100 steps) and training.png in the run folder.
    """

    env: tyro.conf.Positional[str] = "conveyor"
    """The world: conveyor, conveyor-figure1, conveyor-long-belt or conveyor-hard."""

    map: Path | None = None
    """A text file with a map of your own, drawn as docs/conveyor.md explains."""

    formula: str = "P>=0.9 [ G<=30 !acid ]"
    """What to keep; a bare formula such as !acid is taken as P>=0.9 [ G<=30 !acid ]."""

    test: str = "auto"
    """How to decide from traces: auto (the ladder for the formula's own threshold), A, B, C or paper."""

    steps: int = 6_000
    """How many steps to act and learn."""

    explore_steps: int = 2_000
    """How long what was never tried counts as safe."""

    seed: int = 0
    """The seed of the world and of the agents."""

    run_dir: Annotated[Path | None, tyro.conf.arg(name="run")] = None
    """The folder to write to; runs/ and the world's name if not given."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the result as one JSON object."""

    def run(self) -> None:
        # Slow to import, and the other commands do without.
        from ambs.runs.tabular.exact import Truth
        from ambs.runs.tabular.figure import draw
        from ambs.runs.tabular.training import Settings, conveyor, open_world, train

        settings = Settings(self.formula, self.test, self.steps, self.explore_steps, self.seed)
        env = open_world(self.env, self.map, settings.config.safe)
        # What is wrong with seed or test is said here, before a bar is drawn or a folder made.
        agents = settings.agents(env)
        best_safe = Truth.of(conveyor(env), settings.config.safe).most(safe=True)
        folder = self.run_dir or Path("runs") / (self.map.stem if self.map else self.env)
        folder.mkdir(parents=True, exist_ok=True)
        with _bars(quiet=self.json) as bars:
            training = train(env, agents, settings, lambda steps, name: _shown(bars, steps, name, settings.steps))
        picture = folder / "training.png"
        draw(training, conveyor(env), f"{self.map or self.env}     {settings.config.bound}", best_safe, picture)
        summary = {
            "env": str(self.map or self.env),
            **asdict(settings),
            "formula": str(settings.config.bound),
            "agents": {"shielded": _numbers(training.shielded), "unshielded": _numbers(training.unshielded)},
            "most_that_a_safe_policy_delivers": round(best_safe, 4),
            "figure": str(picture),
        }
        metrics = {"shielded": training.shielded.as_json(), "unshielded": training.unshielded.as_json()}
        write_text(folder / "metrics.json", json.dumps(metrics) + "\n")
        write_text(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
        if self.json:
            print_json(summary)
        else:
            _report(training, summary, folder)


def _bars(*, quiet: bool) -> Progress:
    columns = (TextColumn("{task.description:<16}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    falls = TextColumn("{task.fields[falls]} violations")
    return Progress(*columns, falls, console=console(stderr=True), disable=quiet)


def _shown(bars: Progress, steps: Iterable[Step], name: str, total: int) -> Iterator[Step]:
    bar, falls = bars.add_task(name, total=total, falls=0), 0
    for step in steps:
        falls += step.violated
        bars.update(bar, advance=1, falls=falls)
        yield step


def _numbers(run: Any) -> dict[str, float | int]:
    return {
        "violations": sum(run.violations),
        "violations_late": run.late_violations(),
        "final_return": round(run.final_return(), 3),
        "overrides": sum(run.overrides),
        "traces_per_decision": round(sum(run.traces) / run.steps, 1),
    }


def _report(training: Training, summary: dict[str, Any], folder: Path) -> None:
    out = console()
    steps, seed = training.shielded.steps, summary["seed"]
    out.print(f"{summary['env']}, {steps:,} steps, seed {seed}   {summary['formula']}", markup=False)
    shielded, unshielded = summary["agents"]["shielded"], summary["agents"]["unshielded"]
    table = Table("", "with the shield", "without")
    late = min(1000, steps)
    for key, words in (
        ("violations", "violations"),
        ("violations_late", f"in the last {late:,} steps"),
        ("final_return", "deliveries in 100 steps, at the end"),
    ):
        table.add_row(words, str(shielded[key]), str(unshielded[key]))
    table.add_row("actions overridden", str(shielded["overrides"]), "")
    table.add_row("traces a decision", str(shielded["traces_per_decision"]), "")
    out.print(table)
    best = summary["most_that_a_safe_policy_delivers"]
    out.print(f"The most that a policy delivers which is as safe as can be: {best:.2f} in 100 steps (exact).")
    out.print(f"figure   {summary['figure']}", markup=False)
    out.print(f"numbers  {folder / 'summary.json'}, {folder / 'metrics.json'}", markup=False)

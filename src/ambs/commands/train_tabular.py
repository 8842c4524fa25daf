"""Training of the tabular agent: with its shield and without, says what happened, and draws it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.files import write_text

if TYPE_CHECKING:
    from ambs.commands.train import Train
    from ambs.runs.tabular.training import Training
    from ambs.tabular.agent import Step


@dataclass(frozen=True)
class TabularOptions:
    """Only for the agent tabular."""

    map: Path | None = None
    """A text file with a map of your own, drawn as docs/conveyor.md explains."""

    explore_steps: int | None = None
    """How long what was never tried counts as safe; 2000 steps if not given."""


def train_tabular(command: Train, options: TabularOptions) -> None:
    # Slow to import, and the other commands do without.
    from ambs.runs.tabular.exact import Truth
    from ambs.runs.tabular.figure import draw
    from ambs.runs.tabular.training import Settings, conveyor, open_world, train

    given: dict[str, Any] = {"formula": command.formula, "steps": command.steps, "test": command.test}
    given |= {"explore_steps": options.explore_steps, "seed": command.seed}
    settings = Settings(**{name: value for name, value in given.items() if value is not None})
    env = open_world(command.world, options.map, settings.config.safe)
    # What is wrong with seed or test is said here, before a bar is drawn or a folder made.
    agents = settings.agents(env)
    best_safe = Truth.of(conveyor(env), settings.config.safe).most(safe=True)
    folder = command.run_dir or Path("runs") / (options.map.stem if options.map else command.world)
    folder.mkdir(parents=True, exist_ok=True)
    with _bars(quiet=command.json) as bars:
        training = train(env, agents, settings, lambda steps, name: _shown(bars, steps, name, settings.steps))
    picture, world = folder / "training.png", str(options.map or command.world)
    draw(training, conveyor(env), f"{world}     {settings.config.bound}", best_safe, picture)
    summary = {
        "env": world,
        **asdict(settings),
        "formula": str(settings.config.bound),
        "agents": {"shielded": _numbers(training.shielded), "unshielded": _numbers(training.unshielded)},
        "most_that_a_safe_policy_delivers": round(best_safe, 4),
        "figure": str(picture),
    }
    metrics = {"shielded": training.shielded.as_json(), "unshielded": training.unshielded.as_json()}
    write_text(folder / "metrics.json", json.dumps(metrics) + "\n")
    write_text(folder / "summary.json", json.dumps(summary, indent=2) + "\n")
    if command.json:
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

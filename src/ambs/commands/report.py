"""`ambs report`: runs side by side, on one page."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.markup import escape
from rich.table import Column, Table

from ambs.commands.output import console
from ambs.errors import positive_integer

if TYPE_CHECKING:
    from ambs.report.content import Content
    from ambs.report.measures import Measure
    from ambs.report.results import Result
    from ambs.report.tables import Cell


@dataclass(frozen=True)
class Report:
    """Compare training runs: the paper's table with intervals over seeds, learning curves, what the shield did.

    One page that needs nothing else, or the tables as Markdown, LaTeX or JSON.
    """

    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUNS...")]
    """Run folders, folders that contain them, or JSON files that were kept of runs."""

    out: Path = Path("report.html")
    """The file to write."""

    format: Literal["html", "md", "latex", "json"] | None = None
    """What to write; by the ending of --out if not given: .html, .md, .tex, .json."""

    figures: Path | None = None
    """A folder for the curves as PNG and PDF, two files a game."""

    steps: int | None = None
    """The number of environment steps to compare at; if not given, as many as the finished runs of a game share."""

    random: Path | None = None
    """A JSON file with returns of a random policy by environment: the zero of the scale that games share."""

    def run(self) -> None:
        # The other commands do without.
        from ambs.report import random_returns, write

        report = write(
            self.runs,
            self.out,
            format=self.format,
            figures=self.figures,
            steps=None if self.steps is None else positive_integer("steps", self.steps),
            random=None if self.random is None else random_returns(self.random),
            command=self._command(),
        )
        _show(report)
        out = console()
        out.print(f"wrote  {self.out}", markup=False, soft_wrap=True)
        if self.figures is not None:
            out.print(f"wrote  {self.figures}", markup=False, soft_wrap=True)

    def _command(self) -> str:
        """What it takes to make this report again."""
        given = {
            "out": self.out,
            "format": self.format,
            "figures": self.figures,
            "steps": self.steps,
            "random": self.random,
        }
        options = [word for name, value in given.items() if value is not None for word in (f"--{name}", str(value))]
        return shlex.join(["ambs", "report", *map(str, self.runs), *options])


def _show(report: Content) -> None:
    """A line for each agent in each game: narrower than the page's table."""
    from ambs.report.measures import MEASURES
    from ambs.report.tables import cell

    out = console()
    measures = [measure for measure in MEASURES if any(_known(one, measure) for one in report.results)]
    # A column that says the same in every row would take the room of numbers.
    games = list(dict.fromkeys(game for game, _ in report.comparison.groups))
    several = len(games) > 1
    table = Table(
        *([Column("game", overflow="fold")] if several else []),
        Column("agent", overflow="fold"),
        "seeds",
        *(Column(measure.words, overflow="fold") for measure in measures),
        title=None if several else escape(games[0]),
    )
    by_cell = {(one.game, one.agent, one.measure): one for one in report.results}
    for (game, agent), group in report.comparison.groups.items():
        found = [by_cell.get((game, agent, measure)) for measure in measures]
        cells = [cell(one) for one in found]
        shown = [escape(_shown(one, each)) for one, each in zip(found, cells, strict=True)]
        bold = [f"[bold]{text}[/]" if each.best else text for text, each in zip(shown, cells, strict=True)]
        table.add_row(*([escape(game)] if several else []), escape(agent), str(len(group)), *bold)
    out.print(table)
    for note in report.notes:
        out.print(f"note   {note}", markup=False, soft_wrap=True)


def _shown(result: Result | None, told: Cell) -> str:
    """How many seeds there are has a column of its own; it is told beside a number only if that is of fewer."""
    partial = result is not None and result.partial
    return f"{told.text} {told.beside}" if partial or told.beside.startswith("[") else told.text


def _known(result: Result, measure: Measure) -> bool:
    return result.measure is measure and result.estimate is not None

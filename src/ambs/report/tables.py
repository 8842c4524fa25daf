"""The tables of a report, as rows of text: what is in them, whatever they are written as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ambs.report.comparison import Comparison
from ambs.report.measures import FINAL, VIOLATIONS, Measure
from ambs.report.results import Chances, Result
from ambs.report.statistics import Estimate


@dataclass(frozen=True)
class Cell:
    text: str
    beside: str = ""
    """The interval, or why there is none."""
    best: bool = False


@dataclass(frozen=True)
class Row:
    heads: tuple[str, ...]
    """What it is of: a game and a measure."""
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    caption: str
    heads: tuple[str, ...]
    """What the first columns say."""
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


NOTHING = Cell("–")


def paper_table(comparison: Comparison, results: Sequence[Result]) -> Table:
    """The paper's table, agents beside each other: best scores and violations of every game, and a few more numbers."""
    found = {(result.game, result.measure, result.agent): result for result in results}
    rows: list[Row] = []
    for game in comparison.games:
        for measure in dict.fromkeys(result.measure for result in results):
            cells = tuple(cell(found.get((game, measure, agent))) for agent in comparison.agents)
            if any(cell != NOTHING for cell in cells):
                rows.append(Row((game, measure.words + measure.arrow), cells))
        groups = [comparison.groups.get((game, agent)) for agent in comparison.agents]
        rows.append(Row((game, "seeds"), tuple(NOTHING if not group else Cell(str(len(group))) for group in groups)))
        steps = Cell(f"{comparison.steps[game]:,}")
        rows.append(Row((game, "steps"), tuple(steps if group else NOTHING for group in groups)))
    return Table("Results by game", ("game", "measure"), tuple(comparison.agents), tuple(rows))


def games_table(results: Sequence[Result]) -> Table:
    """Over all games."""
    agents = tuple(dict.fromkeys(result.agent for result in results))
    words = {FINAL: "final return, 0 to 1 ↑", VIOLATIONS: "violations, share of the worst run's ↓"}
    rows = [
        Row((words[measure],), tuple(cell(result, 3) for result in results if result.measure is measure))
        for measure in words
    ]
    return Table("On a scale that games share", ("measure",), agents, tuple(rows))


def improvement_table(measure: Measure, chances: Chances) -> Table:
    """How likely a run of the row's agent is better than one of the column's."""
    agents = tuple(dict.fromkeys(one for pair in chances for one in pair))
    rows = [
        Row(
            (a,),
            tuple(
                NOTHING if a == b else Cell(f"{chances[a, b].value:.2f}", _interval(chances[a, b], 2)) for b in agents
            ),
        )
        for a in agents
    ]
    better = "fewer violations" if measure is VIOLATIONS else f"a higher {measure.words}"
    return Table(f"Chance that the row's agent has {better} than the column's", ("agent",), agents, tuple(rows))


def cell(result: Result | None, digits: int | None = None) -> Cell:
    """The estimate and its interval, as text."""
    if result is None or result.estimate is None:
        return NOTHING
    digits = result.measure.digits if digits is None else digits
    return Cell(f"{result.estimate.value:,.{digits}f}", _beside(result, result.estimate, digits), result.best)


def _beside(result: Result, found: Estimate, digits: int) -> str:
    """The interval; with of how many runs it is, where that is not all."""
    if not result.partial:
        return _interval(found, digits)
    of = f"{result.known} of {result.runs} {'runs' if result.game is None else 'seeds'}"
    return f"({of}, no interval)" if found.low is None else f"{_interval(found, digits)} ({of})"


def _interval(estimate: Estimate, digits: int) -> str:
    if estimate.low is None:
        return f"({estimate.seeds} seed{'s' if estimate.seeds > 1 else ''}, no interval)"
    return f"[{estimate.low:,.{digits}f}, {estimate.high:,.{digits}f}]"

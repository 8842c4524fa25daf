"""All that a report says, whatever it is written as."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ambs.report import configuration, curves, origin, results, tables
from ambs.report import notes as before
from ambs.report.comparison import Comparison
from ambs.report.measures import FINAL, LATE, VIOLATIONS, Measure
from ambs.report.reading import Run
from ambs.report.results import Chances


@dataclass(frozen=True)
class Content:
    comparison: Comparison
    results: list[results.Result]
    table: tables.Table
    """The paper's."""
    over_games: tables.Table | None
    scale: str
    """What 0 and 1 are in `over_games`."""
    chances: dict[Measure, Chances]
    """Of every two agents, who is likely to do better; by measure, of those of which it is known."""
    improvement: list[tables.Table]
    """The same as tables."""
    learning: dict[str, list[curves.Chart]]
    """By game."""
    shielding: dict[str, list[curves.Chart]]
    """By game, of those with a shield."""
    options: tables.Table | None
    shared_options: tables.Table | None
    found: list[Run]
    """All runs, also those that are not compared."""
    runs: tables.Table
    facts: dict[str, str]
    commands: list[str]
    notes: list[str]

    @property
    def title(self) -> str:
        return f"{_some(self.comparison.agents, 'agents')} in {_some(self.comparison.games, 'games')}"


def content(
    comparison: Comparison, runs: Sequence[Run], *, command: str, notes: Sequence[str], random: Mapping[str, float]
) -> Content:
    """Of all runs that were found; `notes` are about those that were not readable."""
    found = results.by_game(comparison)
    over = results.over_games(comparison, random)
    chances = {measure: results.improvements(comparison, measure) for measure in (FINAL, LATE, VIOLATIONS)}
    known = {measure: each for measure, each in chances.items() if each}
    shielded = {game: curves.shielding(comparison, game) for game in comparison.games}
    return Content(
        comparison=comparison,
        results=[*found, *over],
        table=tables.paper_table(comparison, found),
        over_games=tables.games_table(over) if over else None,
        scale=_scale(comparison, random),
        chances=known,
        improvement=[tables.improvement_table(measure, each) for measure, each in known.items()],
        learning={game: curves.learning(comparison, game) for game in comparison.games},
        shielding={game: charts for game, charts in shielded.items() if charts},
        options=configuration.differences(comparison),
        shared_options=configuration.shared(comparison),
        found=list(runs),
        runs=origin.runs_table(comparison, runs),
        facts=origin.facts(comparison, command),
        commands=origin.commands(runs),
        notes=[
            *comparison.notes,
            *before.ends(comparison),
            *before.unended(comparison),
            *before.partial(comparison),
            *before.versions(comparison),
            *(before.uneven(comparison) if over else []),
            *(f"Left out: {note}" for note in notes),
        ],
    )


def _scale(comparison: Comparison, random: Mapping[str, float]) -> str:
    known = [game for (game, _), group in comparison.groups.items() if group[0].env in random]
    zero = "the lowest run here"
    if known:
        zero = f"the random policy in {', '.join(dict.fromkeys(known))}"
        zero += "" if set(known) == set(comparison.games) else ", the lowest run here in others"
    return f"A return of 0 is {zero}; 1 is the highest run here. So these numbers change with the runs in the report."


def _some(names: Sequence[str], what: str) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{len(names)} {what}"

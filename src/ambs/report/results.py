"""The numbers of a report: every measure of every agent in every game, with intervals; and over all games."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from ambs.report.comparison import Comparison
from ambs.report.measures import FINAL, LAST, LATE, MEASURES, VIOLATIONS, Measure, episodes_by, value
from ambs.report.statistics import LEAST_SEEDS, Estimate, estimate, improvement

# Of a run's violations in a curve: what is missing can hardly be seen.
_NEARLY_ALL = 0.98
# The chance that a run of the first agent is better than one of the second.
Chances = dict[tuple[str, str], Estimate]


@dataclass(frozen=True)
class Result:
    """One measure of one agent in one game, or over all games."""

    game: str | None
    agent: str
    measure: Measure
    values: Float[np.ndarray, " seeds"]
    """Of the runs of which it is known; empty over all games."""
    estimate: Estimate | None
    """None where it is known of no run."""
    known: int
    """Of how many runs that is."""
    runs: int
    """How many are compared there."""
    best: bool = False
    """Better than all others there, by intervals that do not overlap."""

    @property
    def partial(self) -> bool:
        """Whether it is known of some of the runs only: those might be the better ones."""
        return 0 < self.known < self.runs


def by_game(comparison: Comparison) -> list[Result]:
    """In the order of games, measures and agents."""
    found: list[Result] = []
    for game in comparison.games:
        for measure in MEASURES:
            found += _with_best([_result(comparison, game, agent, measure) for agent in comparison.agents_of(game)])
    return found


def complete(comparison: Comparison) -> list[str]:
    """The agents that are there in every game."""
    return [
        agent for agent in comparison.agents if all((game, agent) in comparison.groups for game in comparison.games)
    ]


def over_games(comparison: Comparison, random: Mapping[str, float]) -> list[Result]:
    """Final return and violations of agents that are there in every game, on scales that games share.

    A return is 0 at the random policy's where `random` has it for the environment, else at the lowest run in the
    report, and 1 at the highest; violations are shares of those of the worst run. Empty with one game or one agent.
    """
    agents = complete(comparison)
    if len(comparison.games) < 2 or len(agents) < 2:
        return []
    found: list[Result] = []
    for measure in (FINAL, VIOLATIONS):
        scaled = {agent: [] for agent in agents}  # type: dict[str, list[np.ndarray]]
        for game in comparison.games:
            values = {agent: _values(comparison, game, agent, measure) for agent in agents}
            every = np.concatenate(list(values.values()))
            if not len(every) or min(len(each) for each in values.values()) == 0:
                return []
            zero = 0.0 if measure is VIOLATIONS else random.get(_env(comparison, game), float(every.min()))
            span = float(every.max()) - zero
            for agent in agents:
                scaled[agent].append((values[agent] - zero) / span if span > 0 else np.zeros(len(values[agent])))
        found += _with_best([_over(comparison, agent, measure, scaled[agent]) for agent in agents])
    return found


def uneven(comparison: Comparison) -> list[str]:
    """A sentence for each agent of `over_games` that has more seeds of one game than of another."""
    found = []
    for agent in complete(comparison):
        seeds = {game: len(comparison.groups[game, agent]) for game in comparison.games}
        if len(set(seeds.values())) > 1:
            said = ", ".join(f"{number} of {game}" for game, number in seeds.items())
            found.append(
                f"Over all games, {agent} has different numbers of runs ({said}): each run counts once, so a game with "
                "more of them weighs more."
            )
    return found


def ends(comparison: Comparison) -> list[str]:
    """What is to be known of returns late in a run: of how much of it they are, and of which runs there are none."""
    found = []
    for game, at in comparison.steps.items():
        groups = {agent: comparison.groups[game, agent] for agent in comparison.agents_of(game)}
        counts = [number for group in groups.values() for run in group if (number := episodes_by(run, at))]
        fewest = min(counts, default=4 * LAST)
        cut = game in comparison.cut
        late = {agent: {run.source for run in group if not math.isnan(value(run, LATE, at, cut=cut))}
                for agent, group in groups.items()}  # fmt: skip
        if fewest < 4 * LAST:
            share = min(1.0, LAST / fewest)
            beside = (
                f"; {LATE.words} is of those that ended in the last tenth of its steps" if any(late.values()) else ""
            )
            found.append(
                f"{FINAL.words.capitalize()} is of the last {LAST} episodes, which in {game} are up to {share:.0%} of "
                f"a run (of {fewest:,} episodes){beside}."
            )
        if not any(late.values()):
            found.append(f"No episode in {game} ended in the last tenth of the steps, so it has no {LATE.words}.")
            continue
        for agent, group in groups.items():
            unknown = [str(run.seed) for run in group if run.source not in late[agent]]
            if unknown and not late[agent]:
                found.append(
                    f"No episode of {agent} in {game} ended in the last tenth of the steps, so it has no {LATE.words}."
                )
            elif unknown:
                seeds = f"seed{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}"
                found.append(
                    f"No episode of {agent} in {game}, {seeds}, ended in the last tenth of the steps; {LATE.words} is "
                    "of the other seeds."
                )
    return found


def unended(comparison: Comparison) -> list[str]:
    """A sentence for each game whose curves of violations end visibly below what its table counts.

    Curves are of episodes that ended, and so is the table where runs are cut; otherwise it has those of all steps.
    """
    found = []
    for game in comparison.games:
        runs = [run for agent in comparison.agents_of(game) for run in comparison.groups[game, agent]]
        counted = [(run.episodes.violations.sum(), run.summary.get(VIOLATIONS.key)) for run in runs if run.summary]
        shares = [ended / total for ended, total in counted if total]
        if game in comparison.cut or min(shares, default=1.0) > _NEARLY_ALL:
            continue
        found.append(
            f"The table's violations in {game} are those of all steps, its curves' those of episodes that ended, which "
            f"are as few as {min(shares):.0%} of a run's."
        )
    return found


def partial(comparison: Comparison) -> list[str]:
    """A sentence for all measures of an agent in a game that are known of the same seeds only; `ends` has that of
    returns late in a run, and why."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for (game, agent), group in comparison.groups.items():
        for measure in (each for each in MEASURES if each is not LATE):
            cut, at = game in comparison.cut, comparison.steps[game]
            unknown = [str(run.seed) for run in group if math.isnan(value(run, measure, at, cut=cut))]
            if unknown and len(unknown) < len(group):
                seeds = f"seed{'s' if len(unknown) > 1 else ''} {', '.join(unknown)}"
                found.setdefault((game, agent, seeds), []).append(measure.words)
    return [
        f"Of {agent} in {game}, {seeds}, it is not known: {', '.join(words)}. What is told there is of the other seeds."
        for (game, agent, seeds), words in found.items()
    ]


def improvements(comparison: Comparison, measure: Measure) -> Chances:
    """The chance that a run of the first is better, for all pairs of agents that have enough seeds of every game."""
    agents = complete(comparison)
    strata = {agent: [measure.better * _values(comparison, game, agent, measure) for game in comparison.games]
              for agent in agents}  # fmt: skip
    enough = [agent for agent in agents if min(len(runs) for runs in strata[agent]) >= LEAST_SEEDS]
    return {(a, b): improvement(strata[a], strata[b]) for a in enough for b in enough if a != b}


def _env(comparison: Comparison, game: str) -> str:
    return comparison.groups[game, comparison.agents_of(game)[0]][0].env


def _values(comparison: Comparison, game: str, agent: str, measure: Measure) -> Float[np.ndarray, " seeds"]:
    cut, at = game in comparison.cut, comparison.steps[game]
    found = [value(run, measure, at, cut=cut) for run in comparison.groups[game, agent]]
    return np.array([each for each in found if not math.isnan(each)], float)


def _result(comparison: Comparison, game: str, agent: str, measure: Measure) -> Result:
    values, runs = _values(comparison, game, agent, measure), len(comparison.groups[game, agent])
    return Result(game, agent, measure, values, estimate([values]) if len(values) else None, len(values), runs)


def _over(comparison: Comparison, agent: str, measure: Measure, scaled: list[np.ndarray]) -> Result:
    runs = sum(len(comparison.groups[game, agent]) for game in comparison.games)
    return Result(None, agent, measure, np.zeros(0), estimate(scaled), sum(map(len, scaled)), runs)


def _with_best(results: list[Result]) -> list[Result]:
    """The same, with the best marked if its interval overlaps with that of no other; so all have to have one, and of
    all their runs."""
    known = [(result, result.estimate) for result in results if result.estimate is not None]
    if len(known) < max(2, len(results)) or results[0].measure.better == 0 or any(one.partial for one in results):
        return results
    best, its = max(known, key=lambda pair: pair[0].measure.better * pair[1].value)
    if not all(its.apart(other) for result, other in known if result is not best):
        return results
    return [replace(one, best=one is best) for one in results]

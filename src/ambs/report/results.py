"""The numbers of a report: every measure of every agent in every game, with intervals; and over all games."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from ambs.report.comparison import Comparison
from ambs.report.measures import FINAL, MEASURES, VIOLATIONS, Measure, value
from ambs.report.statistics import LEAST_SEEDS, LEAST_TO_RANK, Estimate, estimate, improvement

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
    """The same, with the best marked if its interval overlaps with that of no other; so all have to have one, of enough
    seeds, and of all their runs."""
    known = [(result, result.estimate) for result in results if result.estimate is not None]
    if len(known) < max(2, len(results)) or results[0].measure.better == 0 or any(one.partial for one in results):
        return results
    if min(its.seeds for _, its in known) < LEAST_TO_RANK:
        return results
    best, its = max(known, key=lambda pair: pair[0].measure.better * pair[1].value)
    if not all(its.apart(other) for result, other in known if result is not best):
        return results
    return [replace(one, best=one is best) for one in results]

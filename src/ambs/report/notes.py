"""What is to be known before numbers of a report are compared, in sentences."""

from __future__ import annotations

import math

from ambs.report.comparison import Comparison
from ambs.report.measures import FINAL, LAST, LATE, MEASURES, VIOLATIONS, episodes_by, value
from ambs.report.results import complete

# Of a run's violations in a curve: what is missing can hardly be seen.
_NEARLY_ALL = 0.98


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
            episodes = "1 episode" if fewest == 1 else f"{fewest:,} episodes"
            found.append(
                f"{FINAL.words.capitalize()} is of the last {LAST} episodes, which in {game} are up to {share:.0%} of "
                f"a run (of {episodes}){beside}."
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


def versions(comparison: Comparison) -> list[str]:
    """A sentence for each game with runs of an agent that different versions of the source have made, or one that did
    not tell: the same options may have done something else there."""
    found = []
    for game in comparison.games:
        several, untold = [], []
        for agent in comparison.agents_of(game):
            makers = [run.made_by for run in comparison.groups[game, agent] if run.finished]
            if not all(makers):
                untold.append(agent)
            # An installed package knows its version, and of no commit.
            elif len({str(maker.get("commit") or maker.get("ambs")) for maker in makers}) > 1:
                several.append(agent)
        if several:
            found.append(f"In {game}, runs of {', '.join(several)} are by more than one version of the source.")
        if untold:
            found.append(
                f"In {game}, runs of {', '.join(untold)} do not all tell by which version of the source they are."
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

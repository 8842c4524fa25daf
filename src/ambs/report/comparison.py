"""What is compared with what: the runs by game and agent, cut to the steps that they have in common.

Total violations after 40,000 steps and after 100,000 are no comparison; so all runs of a game are measured at the steps
of the shortest one that is finished, and whatever is left out or cut is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ambs.errors import AmbsError
from ambs.report.naming import Key, named, options, rank
from ambs.report.reading import Run


@dataclass(frozen=True)
class Comparison:
    """Runs that are compared, and what is to be said of the others."""

    groups: dict[Key, list[Run]]
    """By game and agent; seeds differ."""
    steps: dict[str, int]
    """By game: the number at which its runs are compared."""
    cut: set[str]
    """Games in which some run that is compared is longer than that."""
    left_out: dict[str, str]
    """Source of a run → why it is not compared."""
    notes: list[str] = field(default_factory=list)
    """What a reader has to know before believing the tables."""

    @property
    def games(self) -> list[str]:
        return list(dict.fromkeys(game for game, _ in self.groups))

    @property
    def agents(self) -> list[str]:
        """In the paper's order, whatever game they are in."""
        found = {agent: group[0].agent for (_, agent), group in self.groups.items()}
        return sorted(found, key=lambda agent: rank(found[agent]))

    def agents_of(self, game: str) -> list[str]:
        return [agent for there, agent in self.groups if there == game]


def compare(runs: Sequence[Run], at: int | None = None) -> Comparison:
    """`at` is the number of steps to compare at, if not the most that finished runs of a game have in common."""
    left_out: dict[str, str] = {}
    notes: list[str] = []
    groups = {key: _one_a_seed(key, group, left_out) for key, group in named(runs).items()}
    steps: dict[str, int] = {}
    cut: set[str] = set()
    for game in dict.fromkeys(game for game, _ in groups):
        there = [run for (which, _), group in groups.items() if which == game for run in group]
        steps[game] = _common(there, at)
        for run in there:
            if run.reached < steps[game]:
                made = "it ended at" if run.finished else f"unfinished: of {run.steps:,} steps it has made"
                left_out[run.source] = f"{made} {run.reached:,}, and {game} is compared at {steps[game]:,}"
        # However long a run was to be that is left out, it changes no number of the others.
        far_enough = [run for run in there if run.source not in left_out]
        _note_lengths(game, far_enough, steps[game], at, notes)
        if any(run.steps > steps[game] for run in far_enough):
            cut.add(game)
    compared = {
        key: [run for run in group if run.source not in left_out] for key, group in groups.items()
    }  # fmt: skip
    compared = {key: group for key, group in compared.items() if group}
    if at is not None and at not in steps.values():
        raise AmbsError(f"no run has reached step {at:,}; compare at fewer steps.")
    notes += [_said(source, why) for source, why in left_out.items()]
    for (game, agent), group in compared.items():
        _note_unrecorded(game, agent, group, notes)
        notes += [
            f"{run.source} is unfinished, at step {run.reached:,} of {run.steps:,}, and counts with what it has done."
            for run in group if not run.finished
        ]  # fmt: skip
    return Comparison(compared, steps, cut, left_out, notes)


def _common(runs: Sequence[Run], at: int | None) -> int:
    finished = [run.steps for run in runs if run.finished]
    common = min(finished) if finished else min(run.reached for run in runs)
    return at if at is not None and any(run.reached >= at for run in runs) else common


def _note_lengths(game: str, runs: Sequence[Run], common: int, at: int | None, notes: list[str]) -> None:
    lengths = sorted({run.steps for run in runs})
    if at is not None and common != at:
        notes.append(f"No run in {game} has reached step {at:,}; they are compared at {common:,}.")
    elif len(lengths) > 1 or common < lengths[0]:
        said = ", ".join(f"{length:,}" for length in lengths)
        notes.append(f"Runs in {game} are of {said} steps; all are compared at {common:,}, by the episodes ended then.")


def _one_a_seed(key: Key, group: Sequence[Run], left_out: dict[str, str]) -> list[Run]:
    """Of runs with the same seed the longest, of those the first: the same run twice would narrow the intervals."""
    kept: dict[int, Run] = {}
    for run in sorted(group, key=lambda run: (-run.reached, not run.finished, not run.episodes.one_by_one)):
        if run.seed in kept:
            left_out[run.source] = (
                f"seed {run.seed} of {key[1]} in {key[0]} is there twice; {kept[run.seed].source} counts"
            )
        else:
            kept[run.seed] = run
    return sorted(kept.values(), key=lambda run: run.seed)


def _said(source: str, why: str) -> str:
    return f"{source} is left out ({why})."


def _note_unrecorded(game: str, agent: str, group: Sequence[Run], notes: list[str]) -> None:
    """Options that some seeds have recorded and others not, for they are of another version of ambs."""
    # What is null is not made use of, as in a version that did not know it.
    recorded = {
        run.seed: {name for name, value in options(run).items() if value is not None}
        for run in group if run.config is not None
    }  # fmt: skip
    every = set().union(*recorded.values())
    missing = sorted({name for names in recorded.values() for name in every - names})
    without = [run.seed for run in group if run.config is None]
    if missing:
        notes.append(
            f"Seeds of {agent} in {game} are of different versions of ambs: not all have recorded "
            f"{', '.join(missing)}. They are taken for the same otherwise."
        )
    if without:
        seeds = f"seed{'s' if len(without) > 1 else ''} {', '.join(map(str, without))}"
        notes.append(f"The configuration of {agent} in {game}, {seeds}, was not kept; its command was compared.")

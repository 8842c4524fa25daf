"""How a report was made: of which runs, by what, when, and at which tier of evidence."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

import ambs
from ambs.envs.catalogue import listed
from ambs.report.comparison import Comparison
from ambs.report.measures import LAST
from ambs.report.naming import Key, env_options
from ambs.report.reading import Run
from ambs.report.statistics import CONFIDENCE, DRAWS, LEAST_SEEDS, LEAST_TO_RANK
from ambs.report.tables import Cell, Row, Table

_CONVEYOR = "ambs.envs.conveyor"
_EXACT = "tier 0 (a small world whose exact kernel is known)"
# Of our agents all but the tabular one, of which there is no report.
_NETWORKS = ("dreamer", "ambs", "lag", "rainbow", "iqn")
_TIERS = {
    _CONVEYOR: "tier 1 (the conveyor world, learned by networks on a CPU)",
    "ambs.envs.minatar": "tier 1 (MinAtar, small enough for a CPU)",
    "ambs.envs.atari": "tier 2 (Atari; the paper trains for 10,000,000 steps)",
}

RULES = (
    "Best score: of one episode. Violations: states entered in training in which the formula did not hold. Final "
    f"return: mean of the last {LAST} episodes. Return at the end: mean of those that ended in the last tenth of the "
    "steps.",
    f"Numbers are interquartile means over seeds, which with {LEAST_SEEDS} seeds are means. In brackets are "
    f"{CONFIDENCE:.0%} intervals: percentiles of {DRAWS:,} draws of the bootstrap over seeds, stratified by game.",
    f"With fewer than {LEAST_SEEDS} seeds there is no interval. With {LEAST_SEEDS} it is from the lowest seed to the "
    "highest, and with a few more it is still too narrow.",
    "Bold: the interval overlaps with that of no other agent there, and every agent has one, of at least "
    f"{LEAST_TO_RANK} seeds.",
)


def facts(comparison: Comparison, command: str) -> dict[str, str]:
    """What is worth knowing of the making, by name."""
    tiers = {game: _tier(comparison, game) for game in comparison.games}
    return {
        "made by": command,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "versions": f"ambs {ambs.__version__}, Python {platform.python_version()}, NumPy {np.__version__}",
        **{
            f"steps and tier, {game}": f"{comparison.steps[game]:,} environment steps, {tier}"
            for game, tier in tiers.items()
        },
    }


def named_runs(comparison: Comparison, runs: Sequence[Run]) -> list[tuple[Key, Run]]:
    """With game and agent as the report calls them, in the order in which they are shown; those that are not compared
    have the names of their environment and agent."""
    names = {run.source: key for key, group in comparison.groups.items() for run in group}
    found = [(names.get(run.source, (run.env, run.agent)), run) for run in runs]
    return sorted(found, key=lambda pair: (*pair[0], pair[1].seed, pair[1].source))


def runs_table(comparison: Comparison, runs: Sequence[Run]) -> Table:
    """Every run that was found, also those that are not compared."""
    rows = []
    for (game, agent), run in named_runs(comparison, runs):
        state = "finished" if run.finished else f"unfinished, at step {run.reached:,}"
        if run.source in comparison.left_out:
            state = f"left out: {comparison.left_out[run.source]}"
        minutes = "–" if run.minutes is None else f"{run.minutes:.1f}"
        cells = (game, agent, str(run.seed), f"{run.steps:,}", minutes, state, _made_by(run.made_by))
        rows.append(Row((run.source,), tuple(Cell(text) for text in cells)))
    columns = ("game", "agent", "seed", "steps", "minutes", "state", "made by")
    return Table("Runs", ("run",), columns, tuple(rows))


def commands(runs: Sequence[Run]) -> list[str]:
    return [run.command for run in runs if run.command is not None]


def _made_by(maker: Mapping[str, Any]) -> str:
    """In a line; whatever is in the file, for it is no reason to have no report."""
    if not maker:
        return "–"
    commit, machine = maker.get("commit"), maker.get("machine")
    source = f" (commit {commit}{', changed since' if maker.get('changed') else ''})" if commit else ""
    parts = [f"ambs {maker.get('ambs')}{source}", f"Python {maker.get('python')}", f"JAX {maker.get('jax')}"]
    if isinstance(machine, Mapping):
        parts += [f"{machine.get('cpu')}, {machine.get('may_use')} of {machine.get('cores')} cores"]
        parts += [] if machine.get("device") == "cpu" else [str(machine.get("device"))]
    # A run that others had begun, with another version or elsewhere.
    earlier = maker.get("earlier")
    earlier = earlier if isinstance(earlier, list) else []
    begun = [_made_by(each) if isinstance(each, Mapping) else "a version that did not tell" for each in earlier]
    return "; ".join([", ".join(parts), *(f"begun by {each}" for each in begun)])


def _tier(comparison: Comparison, game: str) -> str:
    there = [run for agent in comparison.agents_of(game) for run in comparison.groups[game, agent]]
    spec = listed(there[0].env)
    module = "" if spec is None else spec.entry_point.partition(":")[0]
    if module.startswith(_CONVEYOR) and not any(_is_learned_by_a_network(run) for run in there):
        return _EXACT
    return next((tier for begin, tier in _TIERS.items() if module.startswith(begin)), "no tier (your own environment)")


def _is_learned_by_a_network(run: Run) -> bool:
    """What is exactly known of the world is then not known of the agent; from images, whoever learns has one."""
    return run.agent in _NETWORKS or env_options(run).get("observation") == "image"

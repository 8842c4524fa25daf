"""The options in which the agents of a report differ, and those that they share."""

from __future__ import annotations

import json
from typing import Any

from ambs.report.comparison import Comparison
from ambs.report.naming import options
from ambs.report.tables import NOTHING, Cell, Row, Table


def differences(comparison: Comparison) -> Table | None:
    """Options that are not the same in all runs, agents beside each other; None if there is none."""
    return _table("Options that differ", comparison, differ=True)


def shared(comparison: Comparison) -> Table | None:
    """Options that are; None if no configuration is known."""
    return _table("Options that all runs share", comparison, differ=False)


def _table(caption: str, comparison: Comparison, *, differ: bool) -> Table | None:
    by_agent = {agent: _values(comparison, agent) for agent in comparison.agents}
    known = {agent: values for agent, values in by_agent.items() if values is not None}
    rows = []
    for name in sorted(set().union(*known.values())) if known else []:
        values = {agent: each.get(name, {}) for agent, each in known.items()}
        distinct = {tuple(each) for each in values.values()}
        if (len(distinct) > 1 or len(next(iter(distinct))) > 1) == differ:
            shown = comparison.agents if differ else list(known)[:1]
            cells = (_cell(values[agent]) if agent in values else Cell("not kept") for agent in shown)
            rows.append(Row((name,), tuple(cells)))
    columns = tuple(comparison.agents) if differ else ("value",)
    return Table(caption, ("option",), columns, tuple(rows)) if rows else None


def _values(comparison: Comparison, agent: str) -> dict[str, dict[str, str]] | None:
    """Option → value → the games in which it has it, joined; None if no configuration was kept."""
    found: dict[str, dict[str, list[str]]] = {}
    kept = False
    for (game, name), group in comparison.groups.items():
        for run in group:
            if name == agent and run.config is not None:
                kept = True
                # A group that is null in one agent has rows of its options in others.
                for option, value in ((name, each) for name, each in options(run).items() if each is not None):
                    games = found.setdefault(option, {}).setdefault(_said(value), [])
                    games += [game] if game not in games else []
    return {option: {value: ", ".join(games) for value, games in values.items()}
            for option, values in found.items()} if kept else None  # fmt: skip


def _cell(values: dict[str, str]) -> Cell:
    if not values:
        return NOTHING
    if len(values) == 1:
        return Cell(next(iter(values)))
    return Cell("; ".join(f"{value} ({games})" for value, games in values.items()))


def _said(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

"""The report as JSON: every number that the page shows, for whoever wants to go on computing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ambs.report.content import Content
from ambs.report.curves import Chart
from ambs.report.naming import Key
from ambs.report.origin import RULES, named_runs
from ambs.report.reading import Run
from ambs.report.results import Result
from ambs.report.statistics import Estimate
from ambs.report.tables import NOTHING, Table


def numbers(report: Content) -> str:
    comparison = report.comparison
    found = {
        "made": report.facts,
        "rules": list(RULES),
        "notes": report.notes,
        "steps": comparison.steps,
        "runs": [_run(key, run, comparison.left_out) for key, run in named_runs(comparison, report.found)],
        "left_out": comparison.left_out,
        "results": [_result(result) for result in report.results],
        "scale": report.scale if report.over_games is not None else None,
        "improvement": [
            {"measure": measure.key, "agent": one, "than": other, **_estimate(chance, "chance")}
            for measure, chances in report.chances.items() for (one, other), chance in chances.items()
        ],
        "options": {
            "differ": _cells(report.options),
            "shared": {option: values["value"] for option, values in _cells(report.shared_options).items()},
        },
        "curves": [
            _curve(chart)
            for games in (report.learning, report.shielding) for charts in games.values() for chart in charts
        ],
    }  # fmt: skip
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _run(key: Key, run: Run, left_out: Mapping[str, str]) -> dict[str, Any]:
    game, agent = key
    return {
        "source": run.source, "game": game, "agent": agent, "seed": run.seed, "steps": run.steps,
        "reached": run.reached, "minutes": run.minutes, "finished": run.finished,
        "compared": run.source not in left_out, "command": run.command, "made_by": dict(run.made_by) or None,
    }  # fmt: skip


def _result(result: Result) -> dict[str, Any]:
    return {
        "game": result.game,
        "agent": result.agent,
        "measure": result.measure.key,
        "values": result.values.tolist(),
        **_estimate(result.estimate, "iqm"),
        "runs": result.runs,
        "best": result.best,
    }


def _estimate(found: Estimate | None, name: str) -> dict[str, Any]:
    if found is None:
        return {name: None, "low": None, "high": None, "seeds": 0}
    return {name: found.value, "low": found.low, "high": found.high, "seeds": found.seeds}


def _cells(table: Table | None) -> dict[str, dict[str, str | None]]:
    """Head of the row → head of the column → what is there; null where there is nothing."""
    if table is None:
        return {}
    return {
        row.heads[0]: {
            name: None if cell == NOTHING else cell.text for name, cell in zip(table.columns, row.cells, strict=True)
        }
        for row in table.rows
    }


def _curve(chart: Chart) -> dict[str, Any]:
    return {
        "game": chart.game,
        "measure": chart.key,
        "series": [
            {
                "agent": one.agent, "seeds": one.seeds, "step": one.step.tolist(), "iqm": _rounded(one.line),
                "low": None if one.band is None else _rounded(one.band[0]),
                "high": None if one.band is None else _rounded(one.band[1]),
            }
            for one in chart.series
        ],
    }  # fmt: skip


def _rounded(values: np.ndarray) -> list[float]:
    return np.round(values, 6).tolist()

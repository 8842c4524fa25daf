"""The report as JSON: every number that the page shows, for whoever wants to go on computing."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from ambs.report.content import Content
from ambs.report.curves import Chart
from ambs.report.origin import RULES
from ambs.report.results import Result


def numbers(report: Content) -> str:
    comparison = report.comparison
    found = {
        "made": report.facts,
        "rules": list(RULES),
        "notes": report.notes,
        "steps": comparison.steps,
        "runs": [
            {"source": run.source, "game": game, "agent": agent, "seed": run.seed, "steps": run.steps,
             "finished": run.finished, "command": run.command, "made_by": dict(run.made_by) or None}
            for (game, agent), group in comparison.groups.items() for run in group
        ],
        "left_out": comparison.left_out,
        "results": [_result(result) for result in report.results],
        "curves": [
            _curve(chart)
            for games in (report.learning, report.shielding) for charts in games.values() for chart in charts
        ],
    }  # fmt: skip
    return json.dumps(found, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _result(result: Result) -> dict[str, Any]:
    estimate = result.estimate
    return {
        "game": result.game,
        "agent": result.agent,
        "measure": result.measure.key,
        "values": result.values.tolist(),
        "iqm": None if estimate is None else estimate.value,
        "low": None if estimate is None else estimate.low,
        "high": None if estimate is None else estimate.high,
        "best": result.best,
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

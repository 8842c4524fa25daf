"""The report as one page of HTML that needs nothing else: no network, and no script but for legends and read-outs.

Whatever comes from files is escaped, and the page's own policy forbids it to load or send anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from itertools import groupby
from typing import Any

import numpy as np

from ambs.report import svg
from ambs.report.content import Content
from ambs.report.curves import Chart
from ambs.report.origin import RULES
from ambs.report.tables import Cell, Row, Table

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def html(report: Content) -> str:
    agents = report.comparison.agents
    charts: dict[str, Chart] = {}
    body = [
        f"<h1>{escape(report.title)}</h1>",
        f"<p>{_lead(report)}</p>",
        _notes(report.notes),
        "<h2>Results</h2>",
        _table(report.table, "results"),
        *(f"<p class=quiet>{escape(rule)}</p>" for rule in RULES),
        "<h2>Learning curves</h2>",
        "<p class=quiet>Lines are interquartile means over seeds of the episodes that ended in each fiftieth of the "
        "steps, bands their intervals; without enough seeds there is no band.</p>",
        "<noscript><p class=quiet>Without JavaScript the legends do not switch lines off.</p></noscript>",
        *_games(report.learning, agents, "learning", charts),
    ]
    if report.shielding:
        body += ["<h2>What the shield did</h2>", *_games(report.shielding, agents, "shield", charts)]
    body += [*_over_games(report), "<h2>Configuration</h2>", _configuration(report)]
    body += ["<h2>How this was made</h2>", *_origin(report)]
    page = resources.files("ambs.report")
    style, script = (page.joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{escape(report.title)}</title>\n<style>\n{style}</style>\n</head>\n'
        "<body>\n<main>\n" + "\n".join(body) + "\n</main>\n"
        f'<script type="application/json" id="data">{_data(charts, agents)}</script>\n<script>\n{script}</script>\n'
        "</body>\n</html>\n"
    )


def _lead(report: Content) -> str:
    compared = sum(len(group) for group in report.comparison.groups.values())
    runs = "1 training run" if compared == 1 else f"{compared} training runs"
    return (
        f"{runs}; scores and violations are of the episodes that agents were trained in. ↑ more is better, ↓ less is."
    )


def _notes(notes: Sequence[str]) -> str:
    if not notes:
        return ""
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<div class="notes" role="note"><strong>Before you compare</strong><ul>{items}</ul></div>'


def _over_games(report: Content) -> Iterable[str]:
    if report.over_games is not None:
        yield "<h2>Over all games</h2>"
        yield _table(report.over_games)
        yield f"<p class=quiet>{escape(report.scale)}</p>"
    if report.improvement:
        yield "<h2>Who is likely to do better</h2>"
        yield from (_table(table) for table in report.improvement)
        yield "<p class=quiet>Of one run each in the same game, ties half; the mean over games.</p>"


def _games(
    games: Mapping[str, Sequence[Chart]], agents: Sequence[str], section: str, charts: dict[str, Chart]
) -> Iterable[str]:
    """A legend and the charts of each game; they are put into `charts` by their identities."""
    for number, (game, each) in enumerate(games.items()):
        shown = [agent for agent in agents if any(one.agent == agent for chart in each for one in chart.series)]
        if not shown:
            yield f"<h3>{escape(game)}</h3><p>No episode has ended.</p>"
            continue
        named = {f"{section}-{number}-{chart.key}": chart for chart in each if chart.series}
        charts |= named
        figures = "".join(_figure(identity, chart, agents) for identity, chart in named.items())
        yield (
            f'<section class="game"><h3>{escape(game)}</h3>{_legend(game, shown, agents)}'
            f'<div class="charts">{figures}</div></section>'
        )


def _legend(game: str, shown: Sequence[str], agents: Sequence[str]) -> str:
    buttons = []
    for agent in shown:
        number = agents.index(agent)
        style = f'aria-hidden="true" class="style{number % svg.STYLES}"'
        line = f'<svg viewBox="0 0 34 10" {style}><path class="line" d="M1 5H33"/></svg>'
        buttons.append(
            f'<button type="button" aria-pressed="true" disabled data-series="{number}">{line}{escape(agent)}</button>'
        )
    return f'<div class="legend" role="group" aria-label="Shown in {escape(game)}">{"".join(buttons)}</div>'


def _figure(identity: str, chart: Chart, agents: Sequence[str]) -> str:
    drawn = svg.svg(chart, agents, identity)
    # Below the curves, so that they stay under the pointer however long the numbers are.
    numbers = '<p class="readout quiet"></p>'
    return f'<figure id="{identity}"><figcaption>{escape(chart.title)}</figcaption>{drawn}{numbers}</figure>'


def _configuration(report: Content) -> str:
    parts = [_table(report.options) if report.options else "<p>All known options are the same in all runs.</p>"]
    if report.shared_options:
        count = len(report.shared_options.rows)
        parts.append(f"<details><summary>Options that are the same in all runs: {count}</summary>")
        parts.append(f"{_table(report.shared_options)}</details>")
    return "".join(parts)


def _origin(report: Content) -> Iterable[str]:
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in report.facts.items())
    yield f"<dl>{facts}</dl>"
    yield _table(report.runs)
    if report.commands:
        items = "".join(f"<li><code>{escape(command)}</code></li>" for command in report.commands)
        yield f"<details><summary>The commands of the runs</summary><ul>{items}</ul></details>"


def _table(table: Table, kind: str = "") -> str:
    """In a box of its own that scrolls, also by keyboard; heads of rows and columns are marked as such."""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in (*table.heads, *table.columns))
    bodies = []
    if len(table.heads) == 1:
        bodies.append("<tbody>" + "".join(_row(row) for row in table.rows) + "</tbody>")
    else:
        for group, rows in groupby(table.rows, key=lambda row: row.heads[0]):
            first, *others = rows
            head = f'<th scope="rowgroup" rowspan="{1 + len(others)}">{escape(group)}</th>'
            bodies.append(f"<tbody>{_row(first, head)}{''.join(_row(row) for row in others)}</tbody>")
    caption = escape(table.caption)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table class="{kind}">'
        f"<caption>{caption}</caption><thead><tr>{heads}</tr></thead>{''.join(bodies)}</table></div>"
    )


def _row(row: Row, group: str = "") -> str:
    cells = "".join(_cell(cell) for cell in row.cells)
    return f'<tr>{group}<th scope="row">{escape(row.heads[-1])}</th>{cells}</tr>'


def _cell(cell: Cell) -> str:
    text = f"<strong>{escape(cell.text)}</strong>" if cell.best else escape(cell.text)
    beside = f' <span class="beside">{escape(cell.beside)}</span>' if cell.beside else ""
    return f"<td>{text}{beside}</td>"


def _data(charts: Mapping[str, Chart], agents: Sequence[str]) -> str:
    """What the script reads; `<` is written so that no text can end the element."""
    found: dict[str, Any] = {
        "frame": {"width": svg.WIDTH, "left": svg.LEFT, "right": svg.RIGHT},
        "charts": {
            identity: {"steps": chart.steps, "series": [_series(one, agents) for one in chart.series]}
            for identity, chart in charts.items()
        },
    }
    return json.dumps(found, allow_nan=False).replace("<", "\\u003c")


def _series(series: Any, agents: Sequence[str]) -> dict[str, Any]:
    found = {"number": agents.index(series.agent), "agent": series.agent, "step": series.step.tolist()}
    lines = {"line": series.line, **({} if series.band is None else {"low": series.band[0], "high": series.band[1]})}
    return found | {name: np.round(values, 4).tolist() for name, values in lines.items()}

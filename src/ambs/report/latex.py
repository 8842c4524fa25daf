"""The report's tables in LaTeX, as the paper has them; they need no package."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from itertools import groupby

from ambs.report.content import Content
from ambs.report.origin import RULES
from ambs.report.tables import NOTHING, Cell, Row, Table

# More agents beside each other than these do not fit on a page.
_MOST = 4
# Letters of a head in a wide table before it goes on below.
_HEAD = 12
_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\texttt{\symbol{34}}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "Δ": r"$\Delta$",
    # A cell that begins with a bracket would be an argument of the line break before it.
    "[": "{[}", "]": "{]}", "\n": " ",
}  # fmt: skip


def latex(report: Content) -> str:
    tables = [report.table, *([report.over_games] if report.over_games else []), *report.improvement]
    lines = [f"% {name}: {_one_line(text)}" for name, text in report.facts.items()]
    lines += [f"% {_one_line(note)}" for note in report.notes]
    lines += [f"% run: {_one_line(command)}" for command in report.commands]
    parts = ["\n".join(lines)]
    for number, table in enumerate(tables):
        said = " ".join([f"{table.caption}.", *(RULES if number == 0 else ())])
        parts.append(_table(table, said))
    return "\n\n".join(parts) + "\n"


def _table(table: Table, caption: str) -> str:
    begin = [r"\begin{table}", r"\centering", rf"\caption{{{_plain(caption)}}}"]
    if len(table.columns) <= _MOST:
        lines = _lines(table, _plain, _cell)
    else:
        begin += [r"\footnotesize", r"\setlength{\tabcolsep}{3pt}"]
        lines = _lines(table if table.heads == ("agent",) else turned(table), _head, _high)
    return "\n".join([*begin, *lines, r"\end{table}"])


def _lines(table: Table, head: Callable[[str], str], cell: Callable[[Cell], str]) -> list[str]:
    heads = len(table.heads)
    lines = [
        rf"\begin{{tabular}}{{{'l' * heads}{'r' * len(table.columns)}}}",
        r"\hline",
        " & ".join([*map(_plain, table.heads), *map(head, table.columns)]) + r" \\",
    ]
    for _, rows in groupby(table.rows, key=lambda row: row.heads[0] if heads > 1 else ""):
        lines.append(r"\hline")
        for number, row in enumerate(rows):
            first = row.heads if number == 0 or heads == 1 else ("", *row.heads[1:])
            lines.append(" & ".join([*map(_plain, first), *map(cell, row.cells)]) + r" \\")
    return [*lines, r"\hline", r"\end{tabular}"]


def turned(table: Table) -> Table:
    """With the columns, which are agents, as rows, for each game those that are there; and the measures as columns."""
    measures = tuple(dict.fromkeys(row.heads[-1] for row in table.rows))
    rows = []
    for game, there in groupby(table.rows, key=lambda row: row.heads[:-1]):
        cells = {row.heads[-1]: row.cells for row in there}
        for at, agent in enumerate(table.columns):
            mine = tuple(cells[measure][at] if measure in cells else NOTHING for measure in measures)
            if any(cell != NOTHING for cell in mine):
                rows.append(Row((*game, agent), mine))
    return Table(table.caption, (*table.heads[:-1], "agent"), measures, tuple(rows))


def _cell(cell: Cell) -> str:
    return f"{_number(cell)} {_plain(cell.beside)}".rstrip()


def _high(cell: Cell) -> str:
    """The interval below the number, where that is narrower."""
    return _stacked([_number(cell), _plain(cell.beside)]) if cell.beside else _number(cell)


def _head(text: str) -> str:
    return _stacked([_plain(line) for line in textwrap.wrap(text, _HEAD)] or [""])


def _stacked(lines: list[str]) -> str:
    # Of its own it would touch what is above.
    return lines[0] if len(lines) == 1 else r"\shortstack[r]{\strut " + r" \\ ".join(lines) + "}"


def _number(cell: Cell) -> str:
    return rf"\textbf{{{_plain(cell.text)}}}" if cell.best else _plain(cell.text)


def _plain(text: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def _one_line(text: str) -> str:
    return " ".join(text.split())

"""The report's tables in LaTeX, as the paper has them; they need no package."""

from __future__ import annotations

from itertools import groupby

from ambs.report.content import Content
from ambs.report.origin import RULES
from ambs.report.tables import Cell, Table

_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "–": "--", "Δ": r"$\Delta$",
    # A cell that begins with a bracket would be an argument of the line break before it.
    "[": "{[}", "]": "{]}", "\n": " ",
}  # fmt: skip


def latex(report: Content) -> str:
    tables = [report.table, *([report.over_games] if report.over_games else []), *report.improvement]
    lines = [f"% {name}: {_one_line(text)}" for name, text in report.facts.items()]
    lines += [f"% {_one_line(note)}" for note in report.notes]
    parts = ["\n".join(lines)]
    for number, table in enumerate(tables):
        said = " ".join([f"{table.caption}.", *(RULES if number == 0 else ())])
        parts.append(_table(table, said))
    return "\n\n".join(parts) + "\n"


def _table(table: Table, caption: str) -> str:
    heads = len(table.heads)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_plain(caption)}}}",
        rf"\begin{{tabular}}{{{'l' * heads}{'r' * len(table.columns)}}}",
        r"\hline",
        " & ".join(map(_plain, (*table.heads, *table.columns))) + r" \\",
    ]
    for _, rows in groupby(table.rows, key=lambda row: row.heads[0] if heads > 1 else ""):
        lines.append(r"\hline")
        for number, row in enumerate(rows):
            first = row.heads if number == 0 or heads == 1 else ("", *row.heads[1:])
            lines.append(" & ".join([*map(_plain, first), *map(_cell, row.cells)]) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", r"\end{table}"])


def _cell(cell: Cell) -> str:
    text = rf"\textbf{{{_plain(cell.text)}}}" if cell.best else _plain(cell.text)
    return f"{text} {_plain(cell.beside)}".rstrip()


def _plain(text: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in text)


def _one_line(text: str) -> str:
    return " ".join(text.split())

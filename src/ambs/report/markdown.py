"""The report in Markdown: its tables, without the curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ambs.report.content import Content
from ambs.report.origin import RULES
from ambs.report.tables import Cell, Table


def markdown(report: Content, figures: Sequence[str] = ()) -> str:
    """`figures` are paths of pictures, as they are to be linked."""
    parts = [f"# {_plain(report.title)}"]
    if report.notes:
        parts.append("Before you compare:\n\n" + "\n".join(f"- {_plain(note)}" for note in report.notes))
    parts += ["## Results", _table(report.table), *RULES]
    if report.over_games is not None:
        parts += ["## Over all games", _table(report.over_games), _plain(report.scale)]
    if report.improvement:
        parts.append("## Who is likely to do better")
        for table in report.improvement:
            parts += [f"{_plain(table.caption)}:", _table(table)]
    if figures:
        parts += ["## Curves", *(f"![{_plain(path)}](<{path}>)" for path in figures)]
    parts.append("## Configuration")
    parts.append(_table(report.options) if report.options else "All known options are the same in all runs.")
    parts += [
        "## How this was made",
        "\n".join(f"- {_plain(name)}: {_plain(text)}" for name, text in report.facts.items()),
    ]
    parts.append(_table(report.runs))
    if report.commands:
        # In a block of code nothing is escaped; what is in a command is one line.
        parts += ["The commands of the runs:", "\n".join(f"    {' '.join(each.split())}" for each in report.commands)]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    heads = (*table.heads, *table.columns)
    lines = [_line(map(_plain, heads)), "|" + "---|" * len(heads)]
    lines += [_line([*map(_plain, row.heads), *map(_cell, row.cells)]) for row in table.rows]
    return "\n".join(lines)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = f"**{_plain(cell.text)}**" if cell.best else _plain(cell.text)
    return f"{text} {_plain(cell.beside)}".rstrip()


def _plain(text: str) -> str:
    """As it is, whatever Markdown or HTML would make of it."""
    for mark in "\\`*_|<>#":
        text = text.replace(mark, "\\" + mark)
    # Brackets alone are intervals; before a parenthesis they would be a link.
    return text.replace("](", "]\\(").replace("\n", " ")

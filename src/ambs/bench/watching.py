"""How far a run has come, by what it has written; from any process, while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

# A row of metrics is a few kilobytes at most.
_TAIL = 1 << 16


class Seen(NamedTuple):
    """A run at its last row of metrics."""

    step: int = 0
    recent_return: float | None = None
    violations: int = 0
    steps_per_second: float | None = None


def seen(folder: Path) -> Seen:
    """The last whole row; nothing, if there is none yet."""
    try:
        with (folder / "metrics.jsonl").open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - _TAIL))
            lines = file.read().splitlines(keepends=True)
    except FileNotFoundError:
        return Seen()
    for line in reversed(lines):
        try:
            row = json.loads(line)
            return Seen(row["step"], row.get("return"), row["violations"], row.get("steps_per_second"))
        except (ValueError, LookupError, TypeError):
            # The run is in the middle of this line, or we are.
            continue
    return Seen()

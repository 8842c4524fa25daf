"""Where answers go: a table for a person, JSON for a machine, always on standard output."""

from __future__ import annotations

import json
from typing import Any

from rich.console import Console


def console(*, stderr: bool = False) -> Console:
    """Made anew each time, so that it writes to where standard output (or error, for progress) is now."""
    return Console(highlight=False, stderr=stderr)


def print_json(answer: Any) -> None:
    print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))


def short(value: object) -> str:
    """A number as a person reads it."""
    if value is None:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}"

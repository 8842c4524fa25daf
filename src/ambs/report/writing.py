"""From runs to a report on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ambs.errors import AmbsError
from ambs.files import write_text
from ambs.report.comparison import compare
from ambs.report.content import Content, content
from ambs.report.finding import find
from ambs.report.html import html
from ambs.report.latex import latex
from ambs.report.markdown import markdown
from ambs.report.numbers import numbers

ENDINGS = {".html": "html", ".htm": "html", ".md": "md", ".tex": "latex", ".json": "json"}


def write(
    runs: Any,
    out: Any,
    *,
    format: str | None = None,
    figures: Path | None = None,
    steps: int | None = None,
    random: Mapping[str, float] | None = None,
    command: str = "ambs.report.write",
) -> Content:
    """Writes a report of runs.

    Args:
        runs: Paths of run folders, of folders that contain them, or of kept files; or one such path.
        out: The path of the file to write; its folder is made if need be.
        format: "html", "md", "latex" or "json"; by the ending of `out` if not given.
        figures: A folder for the curves as PNG and PDF, if they are wanted.
        steps: The number of steps to compare at; as many as finished runs of a game have in common if not given.
        random: Mean returns of a random policy by environment, for the scale that games share.
        command: What to say that it was made by.

    Returns:
        What was written.
    """
    out = Path(out)
    if out.is_dir():
        raise AmbsError(f"{out} is a folder, and has to be a file to write.")
    kind = _format(out, format)
    paths = [Path(runs)] if isinstance(runs, str | os.PathLike) else [Path(path) for path in runs]
    if not paths:
        raise AmbsError("there are no runs to report on; give run folders, folders that contain them, or kept files.")
    found, broken = find(paths)
    report = content(compare(found, steps), found, command=command, notes=broken, random=random or {})
    pictures: Sequence[str] = ()
    out.parent.mkdir(parents=True, exist_ok=True)
    if figures is not None:
        # Slow to import, and pages do without.
        from ambs.report.figures import draw

        drawn = draw(report, figures)
        pictures = [os.path.relpath(path, out.parent) for path in drawn if path.suffix == ".png"]
    text = markdown(report, pictures) if kind == "md" else {"html": html, "latex": latex, "json": numbers}[kind](report)
    write_text(out, text)
    return report


def random_returns(path: Path) -> dict[str, float]:
    """Of a JSON file: environment → its mean return, or the returns of its episodes."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        returns = {env: each if isinstance(each, list) else [each] for env, each in found.items()}
        return {env: float(sum(each)) / len(each) for env, each in returns.items()}
    except (OSError, ValueError, AttributeError, TypeError, ZeroDivisionError) as error:
        raise AmbsError(
            f"{path} cannot be read as returns of a random policy ({error}): it has to be a JSON object, environment "
            "to mean return or to a list of returns."
        ) from error


def _format(out: Path, given: str | None) -> str:
    kinds = sorted(set(ENDINGS.values()))
    if given is not None and given not in kinds:
        raise AmbsError(f'the format is "{given}", and has to be one of {", ".join(kinds)}.')
    kind = given or ENDINGS.get(out.suffix.lower())
    if kind is None:
        raise AmbsError(f"{out} does not end in {', '.join(ENDINGS)}; name it so, or say which with --format.")
    return kind

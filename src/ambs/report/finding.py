"""Which runs a report is of: folders of runs, folders that contain such folders, and files that were kept."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ambs.errors import AmbsError
from ambs.report.reading import Run, of_file, of_folder


def find(paths: Sequence[Path]) -> tuple[list[Run], list[str]]:
    """All runs that can be read, and a sentence about each that cannot; an error if there is none at all."""
    runs: dict[Path, Run] = {}
    broken: dict[Path, str] = {}
    for path in paths:
        if not path.exists():
            raise AmbsError(f"there is no {path}; give run folders, folders that contain them, or kept files.")
        places = list(_candidates(path))
        if not places:
            raise AmbsError(f"{path} {_why_not(path)}; give run folders, folders that contain them, or kept files.")
        for place in places:
            try:
                runs[place.resolve()] = of_folder(place) if place.is_dir() else of_file(place, _kept(place) or {})
            except AmbsError as error:
                broken[place.resolve()] = str(error)
    if not runs:
        raise AmbsError(next(iter(broken.values())))
    return list(runs.values()), list(broken.values())


def _candidates(path: Path) -> Iterator[Path]:
    """Folders that are runs and files of kept runs, below `path` or itself; other files are passed over."""
    if path.is_file():
        if _kept(path) is not None:
            yield path
        return
    for folder, below, files in os.walk(path):
        here = Path(folder)
        if "config.json" in files:
            # Checkpoints and replay are inside a run, and no runs.
            below.clear()
            yield here
            continue
        below.sort()
        # A bench has links to runs of earlier work; other links are not followed, for they may lead round in a circle.
        yield from (here / name for name in below if _is_linked_run(here / name))
        yield from (here / name for name in sorted(files) if name.endswith(".json") and _kept(here / name) is not None)


def _is_linked_run(path: Path) -> bool:
    return path.is_symlink() and (path / "config.json").is_file()


def _kept(path: Path) -> dict[str, Any] | None:
    """What is in the file if it is, or means to be, a kept run."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) and {"summary", "curve"} <= found.keys() else None


def _why_not(path: Path) -> str:
    if path.is_file():
        return "is no kept run: that is JSON with a summary and a curve"
    if (path / "summary.json").exists():
        return "has a summary but no config.json, as runs of the tabular agent and of examples do, which have no report"
    return "has no run in it"

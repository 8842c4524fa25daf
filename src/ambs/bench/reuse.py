"""Finished runs of earlier work take the place of runs that would be the same."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ambs.bench.cells import Cell
from ambs.errors import AmbsError
from ambs.runs.storage import read_config


def reuse(cells: Sequence[Cell], folders: Sequence[Path]) -> dict[str, Path]:
    """Links every run to what `reusable` finds for it, and gives that."""
    found = reusable(cells, folders)
    for cell in cells:
        if cell.name in found:
            cell.folder.parent.mkdir(parents=True, exist_ok=True)
            # Of a link that will not do; a folder would not have been passed over.
            cell.folder.unlink(missing_ok=True)
            cell.folder.symlink_to(found[cell.name].resolve(), target_is_directory=True)
    return found


def reusable(cells: Sequence[Cell], folders: Sequence[Path]) -> dict[str, Path]:
    """By name, for every run that is not begun a finished one with its configuration, seed and steps, if there is one
    in `folders` or below; nothing is changed on disk."""
    there: dict[tuple[object, ...], list[Path]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise AmbsError(f"--reuse {folder}: there is no such folder.")
        for summary in sorted(folder.rglob("summary.json")):
            # What cannot be read is no run that could be used.
            with contextlib.suppress(AmbsError):
                config = read_config(summary.parent)
                there.setdefault((config.get("env"), config.get("seed")), []).append(summary.parent)
    found = {}
    for cell in cells:
        # A link to what is gone or too short is no run that has begun.
        if cell.folder.exists() and not (cell.folder.is_symlink() and cell.summary() is None):
            continue
        alike = there.get((cell.settings.env, cell.seed), [])
        if (same := next((folder for folder in alike if cell.summary_in(folder) is not None), None)) is not None:
            found[cell.name] = same
    return found

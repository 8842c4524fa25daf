"""Finished runs of earlier work take the place of runs that would be the same."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

from ambs.bench.cells import Cell
from ambs.errors import AmbsError
from ambs.runs.storage import read_config


def reuse(cells: Sequence[Cell], folders: Sequence[Path]) -> dict[str, Path]:
    """Links every run that is not begun to a finished one with its configuration, seed and steps, if there is one in
    `folders` or below; by the names of the runs, where those are."""
    there: dict[tuple[object, ...], list[Path]] = {}
    for folder in folders:
        if not folder.is_dir():
            raise AmbsError(f"--reuse {folder}: there is no such folder.")
        for summary in sorted(folder.rglob("summary.json")):
            # What cannot be read is no run that could be used.
            with contextlib.suppress(AmbsError):
                config = read_config(summary.parent)
                there.setdefault((config.get("env"), config.get("seed")), []).append(summary.parent)
    taken = {}
    for cell in cells:
        # A link to what is gone or too short is no run that has begun.
        linked = cell.folder.is_symlink() and cell.summary() is None
        if cell.folder.exists() and not linked:
            continue
        for folder in there.get((cell.settings.env, cell.seed), []):
            if cell.is_finished_in(folder):
                cell.folder.parent.mkdir(parents=True, exist_ok=True)
                if linked:
                    cell.folder.unlink()
                cell.folder.symlink_to(folder.resolve(), target_is_directory=True)
                taken[cell.name] = folder
                break
    return taken

"""What a run reports while it runs: `metrics.jsonl`, `scores.jsonl`, and the same for TensorBoard.

A row is written by one call as soon as it is there, so a kill leaves at most one half row, and that is dropped on
resume along with all rows that are later than the checkpoint: the steps between are made again, and counted once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ambs.errors import AmbsError
from ambs.files import replacing
from ambs.runs.storage.events import EventFile
from ambs.runs.storage.plain import scalar


class MetricsLog:
    """The logs of a run, open for more rows.

    Write a step's rows before its checkpoint: those up to the checkpoint's step are what a resumed run keeps.

    Args:
        folder: The run's.
        step: Of the checkpoint that the run goes on from, 0 for none; later rows are dropped.
        updates: Gradient steps at that checkpoint: rows of its own step that have more of them are dropped too.
        tensorboard: Whether to write event files too, in the folder `tensorboard`.
    """

    def __init__(self, folder: Path, step: int = 0, *, updates: int = 0, tensorboard: bool = False) -> None:
        self._paths = {name: folder / f"{name}.jsonl" for name in ("metrics", "scores")}
        self._files: dict[str, BinaryIO] = {}
        try:
            for name, path in self._paths.items():
                truncate_after(path, step, updates)
                # Unbuffered: a row is in the system's hands when `_append` returns.
                self._files[name] = path.open("ab", buffering=0)
        except OSError as error:
            raise AmbsError(f"the logs in {folder} cannot be written: {error.strerror}.") from error
        self._events = EventFile(folder / "tensorboard", step) if tensorboard else None

    def metrics(self, step: int, values: Mapping[str, Any]) -> None:
        """One row of whatever was measured, as of `step` environment steps."""
        self._append("metrics", step, values, prefix="")

    def score(self, step: int, *, episode_return: float, length: int, violations: int, **more: Any) -> None:
        """One row for an episode that ended at `step`."""
        row = {"return": episode_return, "length": length, "violations": violations, **more}
        self._append("scores", step, row, prefix="episode/")

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        if self._events is not None:
            self._events.close()

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, name: str, step: int, values: Mapping[str, Any], prefix: str) -> None:
        row = {"step": step} | {key: scalar(key, value) for key, value in values.items()}
        line = json.dumps(row, allow_nan=False).encode() + b"\n"
        try:
            if self._files[name].write(line) != len(line):
                raise OSError(None, "the disk is full")
        except OSError as error:
            raise AmbsError(
                f"{self._paths[name]} could not be written ({error.strerror}); the last checkpoint is intact: make "
                "room there and run the same command again."
            ) from error
        if self._events is not None:
            numbers = {prefix + key: value for key, value in row.items() if isinstance(value, int | float)}
            numbers.pop(prefix + "step")
            self._events.add(step, numbers)


def truncate_after(path: Path, step: int, updates: int = 0) -> None:
    """Drops rows later than `step`, those of `step` that are later than `updates`, and what is no row: all that a kill
    in the middle of a line leaves."""
    if not path.exists():
        return
    with replacing(path) as partial, path.open("rb") as rows, partial.open("wb") as kept:
        kept.writelines(line for line in rows if _is_row_until(line, step, updates))


def _is_row_until(line: bytes, step: int, updates: int) -> bool:
    try:
        row = json.loads(line)
        # A signal between the updates of a step leaves a checkpoint that the row of that very step comes after.
        early = row["step"] < step or (row["step"] == step and row.get("updates", 0) <= updates)
        return line.endswith(b"\n") and early
    except (ValueError, LookupError, TypeError):
        return False

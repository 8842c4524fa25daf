"""The latest rows of something, as many as fit: a safetensors file with an array a field, a row each, oldest first."""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ambs.errors import AmbsError
from ambs.files import replacing

Row = dict[str, np.ndarray]


class Latest:
    """Goes on with what is in the file, of steps up to `until`; what cannot be read is not worth a run."""

    def __init__(self, path: Path, until: int, most_bytes: int) -> None:
        self._path, self._most = path, most_bytes
        self._rows: deque[Row] = deque()
        self._bytes = 0
        self._warned = False
        with contextlib.suppress(AmbsError, FileNotFoundError):
            for row in read(path):
                if row["step"] <= until:
                    self.append(row)

    @property
    def step(self) -> int | None:
        """Of the last row."""
        return int(self._rows[-1]["step"]) if self._rows else None

    def append(self, row: Row) -> None:
        # Older versions kept rows of another shape, which one file cannot hold beside these.
        if self._rows and any(row[name].shape != each.shape for name, each in self._rows[-1].items()):
            self._rows.clear()
            self._bytes = 0
        self._rows.append(row)
        self._bytes += sum(each.nbytes for each in row.values())
        while self._bytes > self._most and len(self._rows) > 1:
            self._bytes -= sum(each.nbytes for each in self._rows.popleft().values())

    def save(self) -> None:
        """All at once. A disk that has no room for it does not end the run, and that is said once."""
        if not self._rows:
            return
        columns = {name: np.stack([row[name] for row in self._rows]) for name in self._rows[0]}
        try:
            with replacing(self._path) as partial:
                save_file(columns, partial)
        # safetensors has an error of its own for what the system refuses.
        except (OSError, SafetensorError) as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"the run goes on, but its latest overrides are not kept, for {self._path} could not be written "
                    f"({error}); the next checkpoint tries again.",
                    stacklevel=3,
                )


def read(path: Path) -> list[Row]:
    try:
        columns = load_file(path)
    except SafetensorError as error:
        raise AmbsError(f"{path} is damaged: {error}; the next checkpoint of the run writes it anew.") from error
    return [{name: values[row] for name, values in columns.items()} for row in range(len(columns["step"]))]

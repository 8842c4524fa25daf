"""The rows of the replay on disk: one file a key, memory-mapped, grown a segment at a time.

A mapped file must never have holes: a write into one on a full disk is no error that Python could report but SIGBUS,
the end of the process. So space is asked of the file system before a row is written, for one segment ahead and not for
the whole capacity: a short run takes little disk, and a disk that is too small is a sentence.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from jaxtyping import Int

from ambs.errors import AmbsError
from ambs.replay.layout import Layout

# What is written at once where the file system cannot set space aside.
_CHUNK = 1 << 20


class Columns:
    """Arrays `[rows, *shape]`, one a key, of as many rows as there has been need for.

    Args:
        folder: Where the files are, and have to be writable.
        layout: What is stored under which key.
        segment: By how many rows the files grow.
        segments: How many times at most.
    """

    def __init__(self, folder: Path, layout: Layout, segment: int, segments: int) -> None:
        self._paths = {key: folder / f"rows-{quote(key, safe='')}.raw" for key in layout}
        self._folder, self._layout, self._segment, self._segments = folder, layout, segment, segments
        self._arrays: dict[str, np.memmap] = {}
        self.rows = min(self._stored(key) for key in layout)
        self._map()

    def require(self, rows: int) -> None:
        """Makes room for so many rows, if there is none yet."""
        if rows <= self.rows:
            return
        room = -(-rows // self._segment) * self._segment
        for key, field in self._layout.items():
            self._allocate(key, room * field.nbytes)
        self.rows = room
        self._map()

    def write(self, index: Int[np.ndarray, " n"], rows: Mapping[str, Any]) -> None:
        for key, array in self._arrays.items():
            array[index] = rows[key]

    def read(self, index: Int[np.ndarray, "*shape"], keys: Collection[str] | None = None) -> dict[str, np.ndarray]:
        """Copies of the rows, in arrays of their own; of some keys, or of all.

        Not in buffers that are used again: JAX on a CPU may compute on the very memory it is given, later.
        """
        return {key: np.asarray(self._arrays[key]).take(index, axis=0) for key in keys or self._arrays}

    def sync(self) -> None:
        """Waits until the rows are on the disk itself, where a power cut does not reach them."""
        for array in self._arrays.values():
            array.flush()

    def _map(self) -> None:
        if self.rows:
            self._arrays = {
                key: np.memmap(self._paths[key], field.dtype, "r+", shape=(self.rows, *field.shape))
                for key, field in self._layout.items()
            }

    def _stored(self, key: str) -> int:
        """How many rows the file of `key` has room for; whole segments, since a kill can cut short its growth."""
        path = self._paths[key]
        size = path.stat().st_size if path.exists() else 0
        return size // (self._segment * self._layout[key].nbytes) * self._segment

    def _allocate(self, key: str, size: int) -> None:
        """The file of `key` is `size` bytes long, and the disk has them."""
        try:
            descriptor = os.open(self._paths[key], os.O_RDWR | os.O_CREAT, 0o644)
            try:
                _fill(descriptor, self._stored(key) * self._layout[key].nbytes, size)
            finally:
                os.close(descriptor)
        except OSError as error:
            row = sum(field.nbytes for field in self._layout.values())
            raise AmbsError(
                f"the replay in {self._folder} could not grow by {row * self._segment:,} bytes ({error.strerror}); "
                f"free some space or choose a smaller capacity, at which this one takes "
                f"{row * self._segment * self._segments:,} bytes."
            ) from error


def _fill(descriptor: int, start: int, end: int) -> None:
    """Sets aside the bytes from `start` to `end`; by writing zeros, where the system knows no better way."""
    if hasattr(os, "posix_fallocate"):
        try:
            return os.posix_fallocate(descriptor, start, end - start)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
    while start < end:
        start += os.pwrite(descriptor, bytes(min(_CHUNK, end - start)), start)
    return None

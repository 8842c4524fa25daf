"""The rows of a run for TensorBoard. They are a copy: a disk that has no room for them does not end the run.

There is no thread that writes: one that dies of a full disk leaves those who wait for it waiting.
"""

from __future__ import annotations

import contextlib
import os
import socket
import time
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

# A disk is waited for only so often, in seconds: TensorBoard shows rows that much later.
FLUSH_EVERY = 60.0


class EventFile:
    """A new event file in `folder`; what earlier ones there have after `step` is hidden by TensorBoard."""

    def __init__(self, folder: Path, step: int) -> None:
        # Imported only when it is asked for: it is slow to import, and most tests do not.
        from tensorboardX.proto.event_pb2 import Event, SessionLog  # type: ignore[import-untyped]
        from tensorboardX.proto.summary_pb2 import Summary  # type: ignore[import-untyped]
        from tensorboardX.record_writer import RecordWriter  # type: ignore[import-untyped]

        self._event, self._summary = Event, Summary
        self._folder, self._flushed = folder, float("-inf")
        self._records: Any = None
        with self._or_none():
            folder.mkdir(parents=True, exist_ok=True)
            # Two that are begun in the same second must not take the place of each other.
            name = f"events.out.tfevents.{int(time.time())}.{socket.gethostname()}.{step}-{os.getpid()}"
            self._records = RecordWriter(str(folder / name))
            self._write(file_version="brain.Event:2")
            self._write(step=step + 1, session_log=SessionLog(status=SessionLog.START))

    def add(self, step: int, values: Mapping[str, float]) -> None:
        """One row."""
        if self._records is None:
            return
        with self._or_none():
            numbers = [self._summary.Value(tag=name, simple_value=float(value)) for name, value in values.items()]
            self._write(step=step, summary=self._summary(value=numbers))
            if time.monotonic() - self._flushed >= FLUSH_EVERY:
                self._records.flush()
                self._flushed = time.monotonic()

    def close(self) -> None:
        if self._records is not None:
            with self._or_none():
                self._records.close()
            self._records = None

    def _write(self, **event: Any) -> None:
        self._records.write(self._event(wall_time=time.time(), **event).SerializeToString())

    @contextlib.contextmanager
    def _or_none(self) -> Iterator[None]:
        """After an error of the disk there are no more rows here, and it is said once."""
        try:
            yield
        except OSError as error:
            records, self._records = self._records, None
            if records is not None:
                # What it still has goes to the same disk.
                with contextlib.suppress(OSError):
                    records.close()
            warnings.warn(
                f"the run goes on without rows for TensorBoard, for {self._folder} could not be written "
                f"({error.strerror}); all of them are in metrics.jsonl and scores.jsonl.",
                stacklevel=3,
            )

"""Which rows of the ring can be believed, after a kill too.

Rows are numbered from 0 as they are written; row n of every environment lies in slot n mod `slots`, over row n - slots.
A run that is killed goes on from its last checkpoint, when only `written` rows were there. What it wrote after that is
from a future that now never happens, and where the ring was full it lies over the oldest rows of the past. So the
highest row ever begun is marked on disk before its data: the rows that survived are

    max(floor, reached - slots)  ≤  n  <  written

and rows written anew from there lie over the lost future first. `reached` goes back only when no row of the past is
left: then everything before `written` is given up, which is what `floor` is for.

Where there are more slots than the `window` of rows that count as the replay, the rows that a killed run wrote over
were too old to count, as long as they are no more than the difference: nothing is lost.

The marks are in a memory-mapped file: what is stored there the kernel keeps, whatever becomes of the process.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ambs.errors import AmbsError

_FLUSHED, _FLOOR, _REACHED = range(3)


class Marks:
    """How far the writing has come: `written` rows count, from `oldest` on they are there.

    Args:
        path: The file of the marks; it is made if there is none.
        slots: How many rows of an environment lie on disk.
        window: How many of them count, the newest.
    """

    def __init__(self, path: Path, slots: int, window: int) -> None:
        if not path.exists():
            path.write_bytes(np.zeros(3, np.int64).tobytes())
        self._stored = np.memmap(path, np.int64, "r+", shape=(3,))
        self._slots, self._window = slots, window
        self.written = int(self._stored[_FLUSHED])

    @property
    def oldest(self) -> int:
        return max(self._survived, self.written - self._window)

    @property
    def _survived(self) -> int:
        return max(int(self._stored[_FLOOR]), int(self._stored[_REACHED]) - self._slots)

    def begin(self) -> None:
        """Row `written` is about to be written: what lay in its slot is lost from now on."""
        self._stored[_REACHED] = max(int(self._stored[_REACHED]), self.written + 1)

    def end(self) -> None:
        """It is there."""
        self.written += 1

    def rewind(self, written: int) -> None:
        """Forgets all but the first `written` rows."""
        reached = int(self._stored[_REACHED])
        if not 0 <= written <= reached:
            raise AmbsError(
                f"the checkpoint was made after {written:,} rows an environment, and the replay has only {reached:,}; "
                "it is not the replay of this run, and without it the run cannot go on: start a new one."
            )
        if written < self._survived:
            # In this order: a kill in between leaves marks that claim nothing, and the next rewind completes them.
            self._stored[_REACHED] = written
            self._stored[_FLOOR] = written
        self.written = written

    def flush(self) -> None:
        """From now on this is where a ring that is opened anew goes on."""
        self._stored[_FLUSHED] = self.written
        self._stored.flush()

"""Rows from elsewhere, and how they get into a replay before its run begins."""

from __future__ import annotations

import warnings
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Int

from ambs.errors import AmbsError
from ambs.replay import Ring

# Rows that are looked at together.
_CHUNK = 256


@runtime_checkable
class Source(Protocol):
    """Rows as the replay stores them, in the order in which they happened; `is_first` where others begin."""

    def __len__(self) -> int: ...

    def rows(self, index: Int[np.ndarray, " n"]) -> dict[str, np.ndarray]:
        """Those of the given numbers: arrays `[n, *shape]`, one a key."""


class Arrays:
    """Rows that are all in memory."""

    def __init__(self, columns: dict[str, np.ndarray]) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def rows(self, index: Int[np.ndarray, " n"]) -> dict[str, np.ndarray]:
        return {key: column[index] for key, column in self._columns.items()}


class Lanes:
    """Rows of the replay of another run, one of its environments after the other."""

    def __init__(self, ring: Ring) -> None:
        kept = ring.starts(1)
        self._ring, self._first, self._each = ring, kept.start, len(kept)

    def __len__(self) -> int:
        return self._each * self._ring.envs

    def rows(self, index: Int[np.ndarray, " n"]) -> dict[str, np.ndarray]:
        lanes, within = np.divmod(index, self._each)
        found = {key: rows[:, 0] for key, rows in self._ring.gather(lanes, self._first + within, 1).items()}
        # The oldest row of a lane may be in the midst of an episode, and does not follow the last of the lane before.
        return found | {"is_first": found["is_first"] | (within == 0)}


def require_enough(source: Source, envs: int, length: int) -> None:
    """That a sequence can be drawn from every lane."""
    if len(source) < envs * length:
        raise AmbsError(
            f"there are {len(source):,} steps to start from, and a batch needs sequences of {length} from {envs} "
            "environments; give more episodes, fewer --envs or a smaller --length."
        )


def require_satisfied(source: Source) -> None:
    """That the formula held somewhere: if not, a shield has nothing to keep."""
    for begin in range(0, len(source), _CHUNK):
        if (source.rows(np.arange(begin, min(begin + _CHUNK, len(source))))["cost"] == 0).any():
            return
    raise AmbsError(
        f"the formula was broken in each of the {len(source):,} steps to start from, so it seems that no state "
        "satisfies it, and a shield cannot keep it; give another --formula, e.g. its negation."
    )


def fill(ring: Ring, source: Source) -> None:
    """Puts the rows into an empty ring: each lane gets a piece of as many consecutive ones.

    Where a piece ends in the midst of an episode, that is cut off there; the run's own first row follows, a reset.
    """
    each = min(len(source) // ring.envs, ring.window)
    if each * ring.envs < len(source) - ring.envs:
        warnings.warn(
            f"there are {len(source):,} steps to start from, and the replay holds {each * ring.envs:,}: the last ones "
            "are taken; raise --capacity to have them all.",
            stacklevel=2,
        )
    begins = len(source) - each * ring.envs + each * np.arange(ring.envs)
    for row in range(each):
        ring.add(source.rows(begins + row))

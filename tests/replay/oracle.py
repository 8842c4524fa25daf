"""The ring as one would check it by hand: what is in every slot, and what should be."""

from __future__ import annotations

import itertools

import numpy as np

LAYOUT = {
    "obs/camera": ((2, 3), "uint8"),
    "obs/speed": ((1,), "float64"),
    "reward": ((), "float32"),
    "is_first": ((), "bool"),
}


def row(stamp: int, envs: int) -> dict[str, np.ndarray]:
    """A row like no other: `stamp` and the environment decide every value."""
    lane = np.arange(envs)
    return {
        "obs/camera": (np.arange(6).reshape(2, 3) + 7 * stamp + 13 * lane[:, None, None]).astype(np.uint8),
        "obs/speed": (stamp + lane / 100)[:, None],
        "reward": (1000 * lane - stamp).astype(np.float32),
        "is_first": (stamp + lane) % 3 == 0,
    }


class Oracle:
    """Keeps the stamp that every slot holds on disk and the stamps of the history that counts."""

    def __init__(self, window: int, slots: int) -> None:
        self.window, self.slots = window, slots
        self.on_disk: dict[int, int] = {}
        self.history: list[int] = []
        self.stamps = itertools.count()
        self.flushed = 0

    def add(self) -> int:
        stamp = next(self.stamps)
        self.on_disk[len(self.history) % self.slots] = stamp
        self.history.append(stamp)
        return stamp

    def rewind(self, written: int) -> None:
        del self.history[written:]

    def starts(self, length: int) -> list[int]:
        """Every row from which `length` of the last `window` rows of the history are still on disk: one by one."""

        def intact(number: int) -> bool:
            recent = len(self.history) - self.window <= number < len(self.history)
            return recent and self.on_disk[number % self.slots] == self.history[number]

        return [
            start
            for start in range(len(self.history))
            if all(intact(start + offset) for offset in range(length))
        ]  # fmt: skip

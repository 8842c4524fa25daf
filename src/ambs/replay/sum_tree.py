"""Numbers of which one is drawn in proportion to its size, and any can be changed; a million of them in microseconds.

A tree in which a node is the sum of its 32 children: four levels for a million leaves, where a binary tree has twenty,
and each level is one operation of NumPy for all that is drawn or changed at once. A node is always summed up anew from
its children, never changed by a difference: nothing drifts, and a tree made from the leaves alone is the same to the
last bit.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from ambs.errors import AmbsError

BRANCH = 32


class SumTree:
    """`size` numbers, all 0 in the beginning."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._levels = [np.zeros((-(-size // BRANCH), BRANCH))]
        while len(self._levels[-1]) > 1:
            self._levels.append(np.zeros((-(-len(self._levels[-1]) // BRANCH), BRANCH)))

    @property
    def leaves(self) -> Float[np.ndarray, " size"]:
        """A copy of the numbers."""
        return self._levels[0].ravel()[: self.size].copy()

    @leaves.setter
    def leaves(self, values: Float[np.ndarray, " size"]) -> None:
        self._levels[0].ravel()[: self.size] = values
        for lower, upper in zip(self._levels, self._levels[1:], strict=False):
            upper.ravel()[: len(lower)] = lower.sum(axis=1)

    @property
    def total(self) -> float:
        return float(self._levels[-1][0].sum())

    def __getitem__(self, index: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        return self._levels[0].ravel()[index]

    def __setitem__(self, index: Int[np.ndarray, " n"], values: Float[np.ndarray, "*n"] | float) -> None:
        self._levels[0].ravel()[index] = values
        for lower, upper in zip(self._levels, self._levels[1:], strict=False):
            # Where several have one parent it is written several times, the same each time.
            index = index // BRANCH
            upper.ravel()[index] = lower[index].sum(axis=1)

    def find(self, share: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """The leaves in which these shares of the total lie, all leaves laid end to end; never one that is 0."""
        if not self.total > 0:
            raise AmbsError("there is nothing to draw: all priorities are 0.")
        left, index = share * self.total, np.zeros(len(share), int)
        for level in reversed(self._levels):
            children = level[index]
            ends = children.cumsum(axis=1)
            beyond = ends > left[:, None]
            # Sums in another order may leave nothing beyond the share: the last child that is there has it then.
            last = BRANCH - 1 - np.argmax(children[:, ::-1] > 0, axis=1)
            child = np.where(beyond.any(axis=1), beyond.argmax(axis=1), last)
            row = np.arange(len(share))
            # Rounding may leave a little less than nothing, which would be found in a child that is 0.
            left = np.maximum(left - (ends[row, child] - children[row, child]), 0.0)
            index = index * BRANCH + child
        return index

    def draw(self, rng: np.random.Generator, count: int) -> Int[np.ndarray, " count"]:
        """`count` leaves, one from each of as many equal parts of the total; one call of the generator."""
        return self.find((np.arange(count) + rng.random(count)) / count)

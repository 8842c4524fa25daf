"""Transitions of several steps, drawn from the ring by their priorities; frames are stored once and stacked when drawn.

A transition begins at a row t: the frames up to it, the action and the rewards that followed (those of the rows t+1 to
t+n; a row's action is the one that led to it), and the frames up to the row where values take over. An episode that
ends earlier ends the sum of rewards: after a termination nothing follows; where it was only cut off, the value of its
last row stands for the rest. The last row of an episode begins no transition, for the next row is another episode's.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from ambs.replay.ring import Ring
from ambs.replay.sum_tree import SumTree


class Drawn(NamedTuple):
    """A batch of transitions, a row each."""

    which: Int[np.ndarray, " batch"]
    """Where they are, for `Priorities.change`."""
    frames: np.ndarray
    """`[batch, stack, *observation]`."""
    action: Float[np.ndarray, "batch actions"]
    reward: Float[np.ndarray, " batch"]
    discount: Float[np.ndarray, " batch"]
    later: np.ndarray
    weight: Float[np.ndarray, " batch"]


class Returns(NamedTuple):
    """Rewards summed up, and what the value after them counts."""

    reward: Float[np.ndarray, " batch"]
    discount: Float[np.ndarray, " batch"]
    steps: Int[np.ndarray, " batch"]
    """m, how many rewards: the value is that of row t+m."""


def returns(
    reward: Float[np.ndarray, "batch n"],
    is_first: Bool[np.ndarray, "batch n"],
    is_terminal: Bool[np.ndarray, "batch n"],
    discount: float,
) -> Returns:
    """Of the rows t+1 to t+n: Σ_{k=1..m} γ^{k-1} r_{t+k} and γ^m, or 0 where row t+m has terminated."""
    inside = ~np.logical_or.accumulate(is_first, axis=1)
    steps = inside.sum(axis=1)
    powers = discount ** np.arange(reward.shape[1])
    ended = (inside & is_terminal).any(axis=1)
    summed = (np.where(inside, reward, 0) * powers).sum(axis=1)
    return Returns(summed.astype(np.float32), np.where(ended, 0, discount**steps).astype(np.float32), steps)


def stacked(
    frames: np.ndarray, is_first: Bool[np.ndarray, "batch rows"], last: Int[np.ndarray, " batch"], stack: int
) -> np.ndarray:
    """`[batch, stack, *observation]`: the frames up to the row `last` of each, zeros for what is of an episode before.

    Args:
        frames: `[batch, rows, *observation]`.
        is_first: Which rows begin an episode.
        last: Where the stacks end; rows before the first are none.
        stack: How many frames.
    """
    batch = np.arange(len(last))[:, None]
    places = last[:, None] + np.arange(1 - stack, 1)
    begun = is_first.cumsum(axis=1)
    same = begun[batch, places] == begun[batch, last[:, None]]
    chosen = frames[batch, places]
    return np.where(same.reshape(*same.shape, *[1] * (chosen.ndim - 2)), chosen, 0).astype(frames.dtype, copy=False)


class Priorities:
    """Which transitions of a ring there are, and how often each is to be drawn.

    Args:
        window, envs: Of the ring.
        stack: Frames that are seen as one.
        steps: n, rewards that are summed up.
        discount: γ.
        clip: Whether rewards are clipped to [-1, 1].
    """

    def __init__(self, window: int, envs: int, *, stack: int, steps: int, discount: float, clip: bool) -> None:
        self.tree = SumTree(window * envs)
        self.top = 1.0
        """The largest priority there has been: new transitions are drawn soon."""
        self._window, self._envs, self._stack, self._steps = window, envs, stack, steps
        self._discount, self._clip = discount, clip

    @property
    def ready(self) -> bool:
        return self.tree.total > 0

    def stored(self, ring: Ring) -> None:
        """A row has been added to the ring: it completes a transition, and may have cost one its first frames."""
        lanes, row, first = np.arange(self._envs), ring.written - 1 - self._steps, self._first(ring)
        # When the ring first drops a row, all that were stacked with it go.
        self._drop(range(max(0, first - self._stack), first))
        if row >= first:
            begins = ring.rows(lanes, np.array(row + 1), ("is_first",))["is_first"]
            self.tree[self._index(lanes, np.array(row))] = np.where(begins, 0.0, self.top)

    def forget_lost(self, ring: Ring) -> None:
        """Drops what begins before the first row that there is: a ring whose past was damaged has less of it."""
        self._drop(range(max(0, ring.written - self._window), min(ring.written, self._first(ring))))

    def draw(self, ring: Ring, rng: np.random.Generator, batch: int, beta: float) -> Drawn:
        """Transitions in proportion to their priorities, and weights that make up for that as far as `beta` says."""
        index = self.tree.draw(rng, batch)
        slot, lane = np.divmod(index, self._envs)
        newest = ring.written - 1
        row = newest - (newest - slot) % self._window
        places = row[:, None] + np.arange(1 - self._stack, self._steps + 1)
        # Before the very first row there is nothing; it begins an episode, so what stands there is not seen.
        read = ring.rows(lane[:, None], np.maximum(places, ring.starts(1).start))
        obs = next(value for key, value in read.items() if key.startswith("obs/"))
        here, after = self._stack - 1, slice(self._stack, None)
        reward = np.clip(read["reward"], -1, 1) if self._clip else read["reward"]
        summed = returns(reward[:, after], read["is_first"][:, after], read["is_terminal"][:, after], self._discount)
        return Drawn(
            which=index,
            frames=stacked(obs, read["is_first"], np.full(batch, here), self._stack),
            action=read["action"][:, self._stack],
            reward=summed.reward,
            discount=summed.discount,
            later=stacked(obs, read["is_first"], here + summed.steps, self._stack),
            weight=self._weights(index, beta),
        )

    def change(self, index: Int[np.ndarray, " batch"], priorities: Float[np.ndarray, " batch"]) -> None:
        self.tree[index] = priorities.astype(float)
        self.top = max(self.top, float(priorities.max()))

    def _drop(self, rows: range) -> None:
        if rows:
            self.tree[self._index(np.arange(self._envs)[None], np.array(rows)[:, None]).ravel()] = 0.0

    def _weights(self, index: Int[np.ndarray, " batch"], beta: float) -> Float[np.ndarray, " batch"]:
        """(1 / N P(i))^β, divided by the largest of the batch; N, the number of transitions, cancels out."""
        weight = self.tree[index] ** -beta
        return (weight / weight.max()).astype(np.float32)

    def _first(self, ring: Ring) -> int:
        """The first row that has all its frames."""
        oldest = ring.starts(1).start
        return oldest + self._stack - 1 if oldest else 0

    def _index(self, lanes: Int[np.ndarray, "*#n"], rows: Int[np.ndarray, "*#n"]) -> Int[np.ndarray, "*n"]:
        return (rows % self._window) * self._envs + lanes

"""Transitions of several steps: rewards at terminations and time limits, stacks where episodes begin, priorities."""

import numpy as np
import pytest

from ambs.replay import Priorities, Ring
from ambs.replay.transitions import returns, stacked

LAYOUT = {
    "obs/": ((1,), np.int32), "action": ((2,), np.float32), "reward": ((), np.float32), "is_first": ((), np.bool_),
    "is_terminal": ((), np.bool_),
}  # fmt: skip


def flags(*rows):
    return np.array(rows, bool)


def test_returns_by_hand():
    """Rewards 1, 10, 100 with γ = ½."""
    reward = np.tile(np.array([1, 10, 100], np.float32), (5, 1))
    first = flags([0, 0, 0], [0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0])
    terminal = flags([0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0], [1, 0, 0])
    found = returns(reward, first, terminal, 0.5)
    # The whole sum; a termination at its end; one before (the next episode's reward is not ours); cut off after one
    # step: its own value counts on; a termination after one step.
    np.testing.assert_allclose(found.reward, [31, 31, 6, 1, 1])
    np.testing.assert_allclose(found.discount, [0.125, 0, 0, 0.5, 0])
    np.testing.assert_array_equal(found.steps, [3, 3, 2, 1, 1])


def test_a_termination_of_the_next_episode_is_not_this_ones():
    found = returns(np.ones((1, 3), np.float32), flags([0, 1, 0]), flags([0, 0, 1]), 0.5)
    assert (found.reward[0], found.discount[0]) == (1, 0.5)


def test_stacks_by_hand():
    frames = np.arange(1, 6)[None].repeat(3, axis=0)
    first = flags([1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 1, 1])
    np.testing.assert_array_equal(
        stacked(frames, first, np.array([3, 3, 4]), 3), [[2, 3, 4], [0, 3, 4], [0, 0, 5]]
    )  # fmt: skip


class World:
    """Two lanes whose rows say where they are: frames 1, 2, ...; episodes of `length` rows; the row is the reward."""

    def __init__(self, folder, *, window=40, lengths=(7, 5), stack=3, steps=2):
        self.ring = Ring.open(folder, LAYOUT, 2 * window, 2, margin=8)
        self.priorities = Priorities(window, 2, stack=stack, steps=steps, discount=0.5, clip=False)
        self.lengths, self.window, self.stack, self.steps = lengths, window, stack, steps

    def add(self, count):
        for _ in range(count):
            row = self.ring.written
            place = np.array([row % length for length in self.lengths])
            # Lane 0 terminates, lane 1 is cut off.
            self.ring.add({
                "obs/": np.full((2, 1), row + 1, np.int32), "action": np.eye(2, dtype=np.float32)[[row % 2] * 2],
                "reward": np.full(2, row, np.float32), "is_first": place == 0,
                "is_terminal": np.array([place[0] == self.lengths[0] - 1, False]),
            })  # fmt: skip
            self.priorities.stored(self.ring)

    def expected(self):
        """The transitions that there are, by lane and row."""
        written = self.ring.written
        oldest = max(0, written - self.window)
        first = oldest + self.stack - 1 if oldest else 0
        rows = range(first, written - self.steps)
        return {(lane, row) for lane in (0, 1) for row in rows if (row + 1) % self.lengths[lane]}

    def there(self):
        newest = self.ring.written - 1
        slot, lane = np.divmod(np.flatnonzero(self.priorities.tree.leaves), 2)
        return set(zip(lane.tolist(), (newest - (newest - slot) % self.window).tolist(), strict=True))


@pytest.mark.parametrize("count", [1, 3, 10, 40, 41, 42, 43, 90, 137])
def test_which_transitions_there_are(tmp_path, count):
    world = World(tmp_path)
    world.add(count)
    assert world.there() == world.expected()


def test_what_is_drawn(tmp_path):
    """Against the rows themselves, after the ring has begun anew several times."""
    world, rng = World(tmp_path), np.random.default_rng(0)
    for count in (6, 60, 47):
        world.add(count)
        drawn = world.priorities.draw(world.ring, rng, 64, 0.5)
        for k, which in enumerate(drawn.which):
            row, length = int(drawn.frames[k, -1, 0]) - 1, world.lengths[which % 2]
            place = row % length
            begun = row - place
            assert drawn.frames[k, :, 0].tolist() == [r + 1 if r >= begun else 0 for r in range(row - 2, row + 1)]
            m = min(2, length - 1 - place)
            assert drawn.reward[k] == sum(0.5**i * (row + 1 + i) for i in range(m))
            ended = which % 2 == 0 and place + m == length - 1
            assert drawn.discount[k] == (0 if ended else 0.5**m)
            last = row + m
            assert drawn.later[k, :, 0].tolist() == [r + 1 if r >= begun else 0 for r in range(last - 2, last + 1)]
            assert drawn.action[k].argmax() == (row + 1) % 2


def test_priorities_and_weights(tmp_path):
    world = World(tmp_path)
    world.add(30)
    keys = world.priorities
    which = np.flatnonzero(keys.tree.leaves)
    keys.change(which, np.ones(len(which), np.float32))
    keys.change(which[:1], np.array([4.0], np.float32))
    assert keys.top == 4.0
    drawn = keys.draw(world.ring, np.random.default_rng(0), 256, 0.5)
    often = drawn.which == which[0]
    assert often.sum() == pytest.approx(256 * 4 / (len(which) + 3), abs=2)
    # (1/4)^½ beside 1.
    np.testing.assert_allclose(drawn.weight, np.where(often, 0.5, 1.0), rtol=1e-6)
    np.testing.assert_allclose(keys.draw(world.ring, np.random.default_rng(0), 8, 0.0).weight, 1.0)
    world.add(1)
    assert keys.tree.leaves.max() == 4.0
    assert (keys.tree.leaves == 4.0).sum() > 1, "new transitions are drawn as often as the most surprising"


def test_a_past_that_was_lost_is_not_drawn(tmp_path):
    world = World(tmp_path)
    world.add(25)
    then = world.priorities.tree.leaves
    world.add(35)
    world.ring.rewind(25)
    world.priorities.tree.leaves = then
    world.priorities.forget_lost(world.ring)
    # There is room for 44 rows, and 60 have been begun: of those before the 25th, 16 to 24 are left.
    assert {row for _, row in world.there()} == set(range(18, 23))


def test_rewards_are_clipped_when_told(tmp_path):
    world = World(tmp_path)
    world.priorities._clip = True
    world.add(20)
    drawn = world.priorities.draw(world.ring, np.random.default_rng(0), 32, 0.0)
    assert drawn.reward.max() <= 1.5

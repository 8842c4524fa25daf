"""The sum tree: what is drawn, how often, and that it does not drift."""

import numpy as np
import pytest
from scipy import stats

from ambs import AmbsError
from ambs.replay.sum_tree import BRANCH, SumTree


def tree_of(values):
    tree = SumTree(len(values))
    tree[np.arange(len(values))] = np.asarray(values, float)
    return tree


@pytest.mark.parametrize("size", [1, 3, BRANCH, BRANCH + 1, BRANCH**2 + 5])
def test_a_share_is_found_where_it_lies(size):
    values = np.random.default_rng(size).integers(0, 4, size).astype(float)
    values[-1] = 1.0
    tree = tree_of(values)
    assert tree.total == values.sum()
    # The middle of every unit of the whole numbers laid end to end, by hand.
    shares = (np.arange(values.sum()) + 0.5) / values.sum()
    np.testing.assert_array_equal(tree.find(shares), np.repeat(np.arange(size), values.astype(int)))


def test_what_is_drawn_is_in_proportion():
    values = np.random.default_rng(1).random(2000)
    values[::3] = 0
    tree, rng = tree_of(values), np.random.default_rng(2)
    # One at a time, so that draws are independent: strata alone would be too even for the test.
    counts = np.bincount(np.concatenate([tree.draw(rng, 1) for _ in range(20_000)]), minlength=2000)
    assert counts[::3].sum() == 0
    there = values > 0
    expected = 20_000 * values[there] / values.sum()
    groups = np.arange(there.sum()) // 20
    sums = [np.bincount(groups, each) for each in (counts[there], expected)]
    assert stats.chisquare(*sums).pvalue > 0.001


def test_draws_are_stratified():
    """Of 8 equal leaves, 8 draws take each once."""
    tree, rng = tree_of(np.ones(8)), np.random.default_rng(0)
    for _ in range(20):
        np.testing.assert_array_equal(np.sort(tree.draw(rng, 8)), np.arange(8))


def test_a_tree_from_its_leaves_is_the_same_to_the_last_bit():
    rng, size = np.random.default_rng(3), 40_000
    tree = SumTree(size)
    for _ in range(500):
        index = rng.integers(size, size=rng.integers(1, 33))
        tree[index] = rng.random(len(index)) ** 8
    again = SumTree(size)
    again.leaves = tree.leaves
    for mine, theirs in zip(tree._levels, again._levels, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert tree.total == pytest.approx(tree.leaves.sum())


def test_rounding_never_finds_what_is_not_there():
    values = np.zeros(3000)
    values[[5, 100, 2000]] = 1e-30, 0.1, 1 / 3
    found = tree_of(values).find(np.array([0.0, 0.5, np.nextafter(1, 0)]))
    assert set(found.tolist()) <= {5, 100, 2000}
    assert found[-1] == 2000


def test_nothing_to_draw():
    with pytest.raises(AmbsError, match="nothing to draw"):
        SumTree(10).draw(np.random.default_rng(0), 2)


def test_a_share_at_a_boundary_is_not_found_in_a_leaf_that_is_0():
    """The first leaf of every block is 0; what rounding leaves of a share that ends with the block before may be below
    0, and would be found there."""
    values = np.random.default_rng(3).random(BRANCH**3)
    values[::BRANCH] = 0
    tree = tree_of(values)
    ends = values.reshape(-1, BRANCH).sum(axis=1).cumsum() / tree.total
    shares = np.concatenate([ends, np.nextafter(ends, 0), np.nextafter(ends, 1)])
    assert (values[tree.find(shares[shares < 1])] > 0).all()

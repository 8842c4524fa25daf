"""Uniform numbers that are cheap: as even, and as independent of each other, as dice have to be."""

import jax
import numpy as np
from scipy import stats

from ambs.world_model.dice import uniform


def streams(count, length):
    return np.asarray(jax.vmap(lambda key: uniform(key, (length,)))(jax.random.split(jax.random.key(0), count)))


def test_uniform_within_a_stream_and_across_streams():
    drawn = streams(400, 500)
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > 1e-3
    assert stats.kstest(drawn[:, 0], "uniform").pvalue > 1e-3
    assert stats.kstest(drawn[0], "uniform").pvalue > 1e-3


def test_neighbours_in_a_stream_and_streams_of_neighbouring_keys_are_independent():
    drawn = streams(400, 500)
    cells = np.minimum((10 * drawn).astype(int), 9)
    for one, other in ((cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:]), (cells[:, :-10], cells[:, 10:])):
        pairs = np.bincount(10 * one.ravel() + other.ravel(), minlength=100)
        assert stats.chisquare(pairs).pvalue > 1e-3


def test_the_same_key_gives_the_same_numbers_and_another_gives_others():
    one, same, other = (np.asarray(uniform(jax.random.key(seed), (3, 4))) for seed in (1, 1, 2))
    assert one.shape == (3, 4)
    np.testing.assert_array_equal(one, same)
    assert not np.any(one == other)


def test_rare_events_happen_as_rarely_as_they_should():
    drawn = streams(1000, 1000)
    for chance in (1e-2, 1e-3, 1e-4):
        happened = int((drawn < chance).sum())
        assert stats.binomtest(happened, drawn.size, chance).pvalue > 1e-3

"""Counting by hand: two environments, six steps."""

import numpy as np

from ambs.envs.vector import Batch
from ambs.runs.dreamer.counters import Counters, Episode, Scorer


def batch(reward, cost, first=(0, 0), last=(0, 0)):
    flags = {"is_first": np.array(first, bool), "is_last": np.array(last, bool), "is_terminal": np.zeros(2, bool)}
    return Batch(np.zeros((2, 1)), np.array(reward, np.float32), np.array(cost, np.float32), {}, **flags)


def test_steps_violations_and_episodes():
    counters, scorer = Counters(), Scorer(2)
    assert list(scorer.add(batch([1, 2], [0, 10]), counters)) == []
    assert list(scorer.add(batch([1, 2], [10, 10], last=[0, 1]), counters)) == [Episode(4.0, 2, 2)]
    # The first row of an episode is no step of anybody's, and what it costs nobody's violation.
    assert list(scorer.add(batch([1, 0], [0, 10], first=[0, 1]), counters)) == []
    again = Scorer.from_json(scorer.as_json())
    assert list(again.add(batch([-5, 3], [0, 0], last=[1, 1]), counters)) == [Episode(-2.0, 4, 1), Episode(3.0, 1, 0)]
    assert (counters.steps, counters.violations, counters.episodes) == (7, 3, 3)
    assert (counters.best_return, counters.recent) == (4.0, [4.0, -2.0, 3.0])
    assert (counters.mean_return(2), counters.mean_return()) == (0.5, 5 / 3)
    assert again.as_json() == {"returns": [0.0, 0.0], "lengths": [0, 0], "violations": [0, 0]}
    assert Counters.from_json(counters.as_json()) == counters
    # As older runs have saved them.
    older = {name: value for name, value in counters.as_json().items() if name != "rewarded"}
    assert Counters.from_json(older) == counters
    assert not Counters.from_json({**older, "recent": [0.0]}).rewarded


def test_a_reward_is_remembered_whatever_its_sign():
    counters, scorer = Counters(), Scorer(2)
    for reward, met in ([0, 0], False), ([0, -1], True), ([0, 0], True):
        list(scorer.add(batch(reward, [10, 0]), counters))
        assert counters.rewarded is met


def test_only_the_last_hundred_returns_are_kept():
    counters, scorer = Counters(), Scorer(2)
    for reward in range(60):
        list(scorer.add(batch([reward, reward], [0, 0], last=[1, 1]), counters))
    assert len(counters.recent) == 100
    assert counters.recent[0] == 10.0
    assert counters.episodes == 120

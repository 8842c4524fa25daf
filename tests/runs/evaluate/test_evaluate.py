"""Evaluations: every episode is counted once, fairly, and is what the agent does by hand."""

import json

import gymnasium
import numpy as np
import pytest
from scipy import stats

import ambs
from ambs.envs.kernel import ACTIONS
from ambs.envs.vector import make_vec
from ambs.envs.vector.seeds import env_seed
from ambs.runs.dreamer.counters import Episode
from ambs.runs.evaluate import Evaluation, evaluate
from ambs.runs.evaluate.film import replayed
from ambs.runs.evaluate.play import Played, play, quotas
from tests.runs.evaluate.conftest import CONFIG


def by_hand(agent, seed, env, number):
    """One episode, with `predict` and Gymnasium alone: return, violations, actions."""
    world = agent.make_env()
    observation, _ = world.reset(seed=env_seed(seed, env, number))
    total, violations, actions, state, over = 0.0, 0, [], None, False
    while not over:
        action, state = agent.predict(observation, state, deterministic=True)
        observation, reward, terminated, truncated, info = world.step(action)
        total, violations, over = total + reward, violations + (info["cost"] > 0), terminated or truncated
        actions.append(int(action))
    world.close()
    return total, violations, actions


def results(evaluation):
    return [(one.env, one.number, one.episode, one.actions.tolist()) for one in evaluation.played]


@pytest.fixture(scope="module")
def evaluation(agent):
    return evaluate(agent, episodes=4, envs=3, deterministic=True, workers="inline")


@pytest.fixture(scope="module")
def sampled(agent):
    return evaluate(agent, episodes=4, envs=3, workers="inline")


def test_what_is_evaluated_is_what_the_agent_does_by_hand(agent, evaluation):
    assert [(one.env, one.number) for one in evaluation.played] == [(0, 0), (0, 1), (1, 0), (2, 0)]
    for one in evaluation.played:
        total, violations, actions = by_hand(agent, 1000, one.env, one.number)
        assert one.actions.tolist() == actions
        assert one.episode == Episode(pytest.approx(total), len(actions), violations)


def test_sampled_episodes_follow_the_seed_and_leave_the_agent_alone(agent, sampled):
    rows = np.stack([agent.observation_space.sample() for _ in range(3)])
    one, other = (type(agent)(agent.saved, seed=7) for _ in range(2))
    again = evaluate(one, episodes=4, envs=3, workers="inline")
    assert results(again) == results(sampled)
    drawn, expected = ([each.predict(rows)[0].tolist() for _ in range(5)] for each in (one, other))
    assert drawn == expected
    elsewhere = evaluate(agent, episodes=4, envs=3, seed=1001, workers="inline")
    assert results(elsewhere) != results(sampled)
    assert len({tuple(each.actions.tolist()) for each in sampled.played}) == 4


def test_quotas_share_out_all_episodes():
    assert quotas(10, 4) == [3, 3, 2, 2]
    assert quotas(8, 8) == [1] * 8
    assert quotas(1, 1) == [1]


class Uneven(gymnasium.Env):
    """A conveyor's spaces; environments of even and of odd seeds have episodes of 2 and of 20 steps."""

    def __init__(self, like):
        self.observation_space, self.action_space = like.observation_space, like.action_space

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # The vector seeds every episode; a trial before it does not.
        self.left = 2 if seed is None or seed % 2 else 20
        return self._seen(), {"labels": {"a": True}, "cost": 0.0}

    def step(self, action):
        self.left -= 1
        return self._seen(), 1.0, self.left == 0, False, {"labels": {"a": True}, "cost": float(self.left % 2)}

    def _seen(self):
        return np.zeros(self.observation_space.shape, self.observation_space.dtype)


def test_short_episodes_are_not_counted_more_often(agent):
    """Each environment plays what was settled for it, although others could have played ten times as many."""
    with make_vec([lambda: Uneven(agent)] * 3, seed=5, workers="inline") as vec:
        played = list(play(agent, vec, [2, 2, 1], deterministic=True))
    assert sorted((one.env, one.number) for one in played) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    lengths = {one.episode.length for one in played}
    assert lengths == {2, 20}
    for one in played:
        length = 2 if env_seed(5, one.env, one.number) % 2 else 20
        assert one.episode == Episode(length, length, length // 2)
        assert len(one.actions) == length


def test_means_rates_and_intervals(agent):
    numbers = [(2.0, 10, 0), (4.0, 20, 3), (9.0, 30, 0), (5.0, 40, 1)]
    played = tuple(Played(0, k, Episode(*row), np.zeros(row[1], int)) for k, row in enumerate(numbers))
    answer = Evaluation(agent, 1000, False, 1, played).as_json()
    returns = [2.0, 4.0, 9.0, 5.0]
    expected = stats.t.interval(0.95, 3, loc=5.0, scale=stats.sem(returns))
    assert answer["return"] == pytest.approx({"mean": 5.0, "low": expected[0], "high": expected[1]})
    assert answer["length"]["mean"] == 25
    assert answer["violations_per_episode"]["mean"] == 1
    # 4 violations in 100 steps.
    assert (answer["steps"], answer["violations"], answer["violations_per_1000_steps"]) == (100, 4, 40)
    share = stats.binomtest(2, 4).proportion_ci(0.95, "exact")
    assert answer["episodes_without_violation"] == pytest.approx({"share": 0.5, "low": share.low, "high": share.high})
    assert [one["safe"] for one in answer["played"]] == [True, False, True, False]
    assert [one["seed"] for one in answer["played"]] == [env_seed(1000, 0, number) for number in range(4)]
    single = Evaluation(agent, 1000, False, 1, played[:1]).as_json()
    assert single["return"] == {"mean": 2.0, "low": None, "high": None}
    json.dumps(answer, allow_nan=False)


def test_the_film_shows_the_episodes_that_were_counted(sampled):
    seen = list(replayed(sampled, 2))
    first, second = sampled.played[:2]
    assert [one.time for one in seen if one.step] == list(range(1, 201))
    for episode, played in ((1, first), (2, second)):
        shown = [one for one in seen if one.episode == episode]
        assert [one.action for one in shown if one.step] == [ACTIONS[action] for action in played.actions]
        assert shown[-1].total_reward == pytest.approx(played.episode.episode_return)
        assert shown[-1].step == played.episode.length
        assert sum(one.cost > 0 for one in shown) == played.episode.violations
    assert seen[-1].violations == first.episode.violations + second.episode.violations
    # The film says something only if there was something to see.
    assert seen[-1].violations > 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"episodes": 0}, "episodes is 0"),
        ({"envs": 0}, "envs is 0"),
        ({"seed": -1}, "the seed is -1"),
        ({"seed": CONFIG.seed}, "the seed is 3, with which the run was trained"),
    ],
)
def test_mistakes_are_one_sentence(agent, options, words):
    with pytest.raises(ambs.AmbsError, match=words):
        evaluate(agent, **options)

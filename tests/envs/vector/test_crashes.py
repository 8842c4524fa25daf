"""Environments that crash, and processes that are killed: the episode is closed, and training goes on."""

import functools
import os
import signal
import warnings

import numpy as np
import pytest

from ambs import AmbsError
from ambs.envs.vector import CrashWarning, make_vec
from ambs.envs.vector.seeds import env_seed
from tests.envs.vector.toys import BadReset, Episodes, Fated, die, raise_error

ACTION = np.full((2, 2), 0.5, np.float32)


def assert_closed(batch, before, env):
    """The row of an episode that was cut off: nobody's action led to it."""
    assert (batch.is_first[env], batch.is_last[env], batch.is_terminal[env]) == (False, True, False)
    assert (batch.reward[env], batch.cost[env]) == (0, 0)
    assert not any(label[env] for label in batch.labels.values())
    for key, rows in batch.obs.items():
        np.testing.assert_array_equal(rows[env], before.obs[key][env])


@pytest.mark.parametrize(("workers", "how"), [("inline", raise_error), (1, raise_error), (1, die)])
def test_a_crash_closes_the_episode_and_no_other(workers, how):
    # Environment 1 crashes at the second step of its first episode; the trial environment is one that does not.
    made = [functools.partial(Episodes, 4), functools.partial(Episodes, 4, crash_at=(0, 2), how=how)]
    with make_vec(made, seed=5, workers=workers) as vector:
        vector.reset()
        before = vector.step(ACTION)
        assert vector.episodes == [0, 0]
        with pytest.warns(CrashWarning, match="out of cheese" if how is raise_error else "SIGKILL") as caught:
            batch = vector.step(ACTION)
        # A process that is gone has taken its other environments with it; an exception has not.
        lost = [1] if how is raise_error else [0, 1]
        assert len(caught) == len(lost)
        for env in lost:
            assert_closed(batch, before, env)
        if 0 not in lost:
            assert batch.obs["where"][0].tolist() == [0, 2]
            assert (batch.cost[0], batch.reward[0], batch.labels["begun"][0]) == (0, 2, True)
        batch = vector.step(ACTION)
        assert vector.episodes == [int(0 in lost), 1]
        for env in lost:
            assert batch.is_first[env]
            fresh = np.random.default_rng(env_seed(5, env, 1)).random()
            assert batch.obs["drawn"][env] == fresh
        assert batch.obs["where"][1].tolist() == [0, 0]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_whole_group_is_the_trainers_affair(number):
    with make_vec(functools.partial(Episodes, 4), 2, seed=5, workers=2) as vector:
        vector.reset()
        workers = vector.backend.pids
        for worker in workers:
            # A group of its own: before its first instruction it could not ignore what a terminal sends to ours.
            assert os.getpgid(worker) == worker
            os.kill(worker, number)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert vector.step(ACTION).obs["where"].tolist() == [[0, 1], [0, 1]]
        assert vector.backend.pids == workers
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


def play(vector, steps):
    for _ in range(steps):
        vector.step(ACTION)


def test_a_killed_worker_is_replaced_even_where_an_episode_has_just_ended():
    """Of its two environments one is to be reset and one to be stepped at the moment it is gone."""
    made = [functools.partial(Episodes, 3), functools.partial(Episodes, 5)]
    with make_vec(made, seed=5, workers=1) as vector:
        vector.reset()
        for _ in range(3):
            before = vector.step(ACTION)
        assert before.is_last.tolist() == [True, False]
        (gone,) = vector.backend.pids
        os.kill(gone, signal.SIGKILL)
        with pytest.warns(CrashWarning):
            batch = vector.step(ACTION)
        assert vector.backend.pids != [gone]
        # Nothing of environment 0 was lost: its next episode begins as it would have, in the new process.
        assert batch.is_first.tolist() == [True, False]
        assert_closed(batch, before, 1)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            batch = vector.step(ACTION)
            assert batch.obs["where"].tolist() == [[0, 1], [0, 0]]
            assert batch.is_first.tolist() == [False, True]


def test_a_process_that_dies_while_one_of_its_environments_tries_again():
    """Environment 0 has begun its episode by then; it is lost with the process, and begins the next one."""
    fates = {env_seed(5, 1, 0): (0, raise_error), env_seed(5, 1, 1): (0, die)}
    made = [functools.partial(Episodes, 4), functools.partial(Fated, 4, fates)]
    with make_vec(made, seed=5, workers=1) as vector:
        with pytest.warns(CrashWarning) as caught:
            batch = vector.reset()
        assert [str(warning.message).split(" crashed")[0] for warning in caught] == [
            "environment 1", "environment 0", "environment 1"
        ]  # fmt: skip
        assert batch.is_first.all()
        assert vector.episodes == [1, 2]
        drawn = [np.random.default_rng(env_seed(5, env, episode)).random() for env, episode in ((0, 1), (1, 2))]
        assert batch.obs["drawn"].tolist() == drawn
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert vector.step(ACTION).obs["where"].tolist() == [[0, 1], [0, 1]]


def test_an_environment_that_crashes_again_and_again_is_given_up():
    made = [functools.partial(Episodes, 4), functools.partial(Episodes, 4, crash_at=(0, 2), how=raise_error)]
    with make_vec(made, workers="inline") as vector:
        vector.reset()
        with pytest.warns(CrashWarning) as caught, pytest.raises(AmbsError) as error:
            play(vector, 50)
    assert len(caught) == 3
    assert "environment 1 crashed 4 times" in str(error.value)
    assert "RuntimeError: out of cheese" in str(error.value).splitlines()[0]
    assert "raise_error" in str(error.value)


def test_an_episode_in_between_is_progress():
    made = [functools.partial(Episodes, 2), functools.partial(Episodes, 2, crash_at=(1, 1), how=raise_error)]
    with make_vec(made, workers="inline") as vector:
        vector.reset()
        with pytest.warns(CrashWarning) as caught:
            play(vector, 60)
    assert len(caught) > 6


def test_an_environment_that_cannot_begin_is_given_up():
    with make_vec([Episodes, BadReset], workers="inline") as vector, pytest.warns(CrashWarning):  # noqa: SIM117
        with pytest.raises(AmbsError, match="environment 1 crashed 4 times.*no such thing"):
            vector.reset()

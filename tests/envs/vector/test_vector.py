"""N environments as one: what comes out, who is reset when, and that it does not matter in which process."""

import functools
import os
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.envs.vector import make_vec
from ambs.envs.vector.make import PROCESS_SECONDS, _workers
from ambs.envs.vector.seeds import env_seed
from tests.envs.vector.toys import BadReset, Episodes, Forgetful, Odd, Unlabelled

FLAGS = ("reward", "cost", "is_first", "is_last", "is_terminal")


def rollout(vector, steps):
    """All batches under actions that depend on nothing but the step, as one dictionary of arrays [time, N, ...]."""
    vector.action_space.seed(0)
    batches = [vector.reset()] + [vector.step(vector.action_space.sample()) for _ in range(steps)]
    rows = {name: np.stack([getattr(batch, name) for batch in batches]) for name in FLAGS}
    rows |= {f"label {atom}": np.stack([batch.labels[atom] for batch in batches]) for atom in batches[0].labels}
    if isinstance(batches[0].obs, dict):
        return rows | {key: np.stack([batch.obs[key] for batch in batches]) for key in batches[0].obs}
    return rows | {"obs": np.stack([batch.obs for batch in batches])}


def assert_same(left, right):
    assert left.keys() == right.keys()
    for name, array in left.items():
        np.testing.assert_array_equal(array, right[name], err_msg=name)
        assert array.dtype == right[name].dtype


def test_every_row_belongs_to_one_episode():
    with make_vec([lambda: Episodes(3), lambda: Episodes(5, terminates=False)], workers="inline") as vector:
        rows = rollout(vector, 12)
    episode, step = rows["where"][..., 0], rows["where"][..., 1]
    for env, length in enumerate((3, 5)):
        # The action after the last row of an episode is spent on the reset.
        expected = [(i // (length + 1), i % (length + 1)) for i in range(13)]
        assert list(zip(episode[:, env], step[:, env], strict=True)) == expected
        np.testing.assert_array_equal(rows["is_first"][:, env], step[:, env] == 0)
        np.testing.assert_array_equal(rows["is_last"][:, env], step[:, env] == length)
        np.testing.assert_array_equal(rows["is_terminal"][:, env], (step[:, env] == length) & (env == 0))
    # What belongs to the state comes with it, in first rows too; reward is the action's, and there was none.
    np.testing.assert_array_equal(rows["reward"], step)
    np.testing.assert_array_equal(rows["cost"], 10.0 * (step % 2))
    np.testing.assert_array_equal(rows["label odd"], step % 2 == 1)
    np.testing.assert_array_equal(rows["label begun"], step > 0)
    np.testing.assert_array_equal(rows["action"][rows["is_first"]], 0)


def test_the_cost_of_a_first_row_is_that_of_the_state_it_begins_in():
    with make_vec("conveyor", 2, workers="inline", formula="acid", cost=4.0) as vector:
        batch = vector.reset()
    assert batch.cost.tolist() == [4.0, 4.0]
    assert batch.reward.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("make", "workers"),
    [
        (functools.partial(make_vec, "conveyor", 5), 2),
        (functools.partial(make_vec, "seaquest", 3), 2),
        (functools.partial(make_vec, "minatar-space-invaders", 3), 2),
        (functools.partial(make_vec, [functools.partial(Episodes, length) for length in (2, 3, 4, 5)]), 3),
    ],
)
def test_one_process_and_several_agree(make, workers):
    with make(seed=3, workers="inline") as inline, make(seed=3, workers=workers) as several:
        assert len(several.backend.pids) == workers
        assert_same(rollout(inline, 130), rollout(several, 130))


@pytest.mark.parametrize("workers", ["inline", 2])
def test_after_an_interrupt_nothing_goes_on(workers, monkeypatch):
    """Some rows are stepped and some are not; going on would give answers to questions asked before."""
    vector = make_vec("conveyor", 3, workers=workers)
    vector.reset()

    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(vector.backend, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        vector.step([0, 0, 0])
    with pytest.raises(AmbsError, match="closed"):
        vector.step([0, 0, 0])


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({"labels": {"near": 0.3}, "cost": 0.0}, '"near" is 0.3'),
        ({"labels": {"near": True}, "cost": -7.0}, "cost of environment 0 is -7"),
    ],
)
def test_labels_and_costs_that_are_none_are_refused(info, words):
    class Wrong(gymnasium.Env):
        observation_space, action_space = gymnasium.spaces.Discrete(2), gymnasium.spaces.Discrete(2)

        def reset(self, *, seed=None, options=None):
            return 0, info

        def step(self, action):
            return 0, 0.0, False, False, info

    with pytest.raises(AmbsError, match=words), make_vec(Wrong, 2, workers="inline") as vector:
        vector.reset()


def test_a_row_is_what_the_environment_alone_would_have_done():
    with make_vec("conveyor-hard", 3, seed=7, workers="inline", observation="state") as vector:
        rows = rollout(vector, 60)
        vector.action_space.seed(0)
        actions = [vector.action_space.sample() for _ in range(60)]
    for env in range(3):
        alone = ambs.make("conveyor-hard", observation="state")
        alone.reset(seed=env_seed(7, env))
        for time_step, action in enumerate(actions):
            observation, reward, _, _, info = alone.step(action[env])
            row = {name: array[time_step + 1, env] for name, array in rows.items()}
            assert (row["obs"], row["reward"], row["cost"]) == (observation, reward, info["cost"])
            assert {atom: row[f"label {atom}"] for atom in info["labels"]} == info["labels"]


def test_seeds_differ_between_environments_and_seeds_and_episodes():
    seeds = {env_seed(seed, env, episode) for seed in range(5) for env in range(5) for episode in range(3)}
    assert len(seeds) == 75
    with make_vec(lambda: Episodes(50), 4, seed=1, workers="inline") as vector:
        drawn = vector.reset().obs["drawn"]
        assert len(set(drawn.tolist())) == 4
        # A second reset begins other episodes, in the same environments.
        assert vector.episodes == [0] * 4
        second = vector.reset().obs
        assert vector.episodes == [1] * 4
        assert not np.isin(second["drawn"], drawn).any()
        assert second["where"].tolist() == [[1, 0]] * 4
    with make_vec(lambda: Episodes(50), 4, seed=2, workers="inline") as other:
        assert not np.isin(other.reset().obs["drawn"], drawn).any()


def test_batches_are_the_callers_to_keep():
    with make_vec("conveyor", 2, workers="inline") as vector:
        first = vector.reset()
        kept = first.obs.copy()
        for _ in range(20):
            vector.step([1, 2])
        np.testing.assert_array_equal(first.obs, kept)
        assert first.is_first.all()


def test_spaces_are_named_as_gymnasium_names_them():
    with make_vec("conveyor", 3, workers="inline") as vector:
        assert vector.num_envs == 3
        assert vector.single_action_space == ambs.make("conveyor").action_space
        assert vector.observation_space.contains(vector.reset().obs)
        assert vector.action_space.sample().shape == (3,)


def test_processes_only_where_they_save_time():
    worth = 2 * PROCESS_SECONDS
    assert _workers("auto", 1, worth) is None
    assert _workers("auto", 64, PROCESS_SECONDS / 1000) is None
    assert _workers("inline", 64, worth) is None
    assert _workers(8, 3, worth) == 3
    if len(os.sched_getaffinity(0)) > 1:
        assert _workers("auto", 8, worth) == min(8, len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("workers", ["inline", 1])
def test_closing_twice_is_no_mistake_and_leaves_nothing_behind(workers):
    shared = set(os.listdir("/dev/shm"))
    files = len(os.listdir("/proc/self/fd"))
    vector = make_vec("conveyor", 2, workers=workers)
    vector.reset()
    pids = getattr(vector.backend, "pids", [])
    vector.close()
    vector.close()
    assert not [pid for pid in pids if Path(f"/proc/{pid}").exists()]
    with pytest.raises(AmbsError, match="closed"):
        vector.step([0, 0])
    del vector
    assert len(os.listdir("/proc/self/fd")) == files
    assert set(os.listdir("/dev/shm")) <= shared


LEAVES = """
import os, sys, time
from ambs.envs.vector import make_vec
vector = make_vec("conveyor", 2, workers=1)   # no guard for __main__, and nobody closes it
vector.reset()
print(*vector.backend.pids, flush=True)
if sys.argv[1] == "wait":
    time.sleep(600)
"""


@pytest.mark.parametrize("end", ["killed", "ends"])
def test_workers_do_not_outlive_the_trainer(end, tmp_path):
    script = tmp_path / "train.py"
    script.write_text(LEAVES)
    trainer = subprocess.Popen(
        [sys.executable, "-W", "always", str(script), "wait" if end == "killed" else "go"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    (worker,) = trainer.stdout.readline().split()
    if end == "killed":
        trainer.kill()
    trainer.wait(30)
    for _ in range(200):
        if not running(worker):
            break
        time.sleep(0.05)
    assert not running(worker)
    errors = trainer.communicate()[1]
    assert "leaked" not in errors
    assert "Traceback" not in errors


def running(pid):
    """Whether there is such a process; one that has ended, and that nobody has waited for, has not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (["conveyer", 2], {}, 'no environment "conveyer"; did you mean conveyor'),
        (["conveyor", 2], {"formula": "!lava"}, 'no atom "lava"'),
        (["conveyor", 0], {}, "n is 0"),
        (["conveyor"], {}, "n is None"),
        (["conveyor", 2], {"workers": "many"}, "workers is 'many'"),
        (["conveyor", 2], {"workers": 0}, "workers is 0"),
        (["conveyor", 2], {"seed": -1}, "seed is -1"),
        ([17, 2], {}, "the environments are 17"),
        ([[]], {}, "a list of environments"),
        ([Unlabelled, 2], {}, 'does not put "labels" into its info'),
        ([Odd, 2], {}, "observation space Text.*does not fit"),
    ],
)
def test_what_cannot_work_is_one_sentence(arguments, options, words):
    with pytest.raises(AmbsError, match=words) as error:
        make_vec(*arguments, **options)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("workers", ["inline", 1])
def test_environments_that_are_not_alike_are_refused(workers):
    vector = make_vec([Episodes, lambda: ambs.make("conveyor")], workers=workers)
    with pytest.raises(AmbsError, match="observation space of environment 1 is"):
        vector.reset()
    with pytest.raises(AmbsError, match="closed"):
        vector.reset()


@pytest.mark.parametrize("actions", [[1], [1.5, 2.0], [[1], [2]], [1, 5], [1, -1]])
def test_actions_that_do_not_fit_are_refused(actions):
    with make_vec("conveyor", 2, workers="inline") as vector:
        with pytest.raises(AmbsError, match="reset"):
            vector.step([0, 0])
        vector.reset()
        with pytest.raises(AmbsError, match="action"):
            vector.step(actions)


def test_an_observation_that_lacks_a_part_is_refused():
    # The trial that make_vec begins with does not look at observations.
    with make_vec(Forgetful, 2, workers="inline") as vector:
        vector.reset()
        with pytest.raises(AmbsError, match='no "drawn", which its space has'):
            vector.step(np.zeros((2, 2), np.float32))


def test_a_constructor_that_fails_is_no_worker_that_crashed():
    with pytest.raises(AmbsError, match="crashed when it was tried out .RuntimeError: no such thing."):
        make_vec(BadReset, 2)

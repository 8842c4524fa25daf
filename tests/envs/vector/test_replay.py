"""An episode is determined by its number and its actions: a new vector goes on where another one was."""

import dataclasses
import functools
import warnings

import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.envs.vector import CrashWarning, ReplayError, make_vec
from ambs.envs.vector.seeds import env_seed
from tests.envs.vector.toys import Episodes, Fated, Moody, die, raise_error


@dataclasses.dataclass
class Moment:
    """A vector after one step: what came out, which episodes it is in, and what was done in them so far."""

    batch: object
    episodes: list
    actions: list


def record(vector, steps):
    """The moments of a vector under actions that depend on nothing but the step, and these actions."""
    vector.action_space.seed(0)
    moments = [Moment(vector.reset(), vector.episodes, [no_actions(vector)] * vector.num_envs)]
    given = [vector.action_space.sample() for _ in range(steps)]
    for action in given:
        batch = vector.step(action)
        played = [
            no_actions(vector) if first else np.concatenate([before, [mine]])
            for first, before, mine in zip(batch.is_first, moments[-1].actions, action, strict=True)
        ]
        moments.append(Moment(batch, vector.episodes, played))
    return moments, given


def no_actions(vector):
    space = vector.single_action_space
    return np.zeros((0, *space.shape), space.dtype)


def assert_same(batch, expected):
    for field in dataclasses.fields(batch):
        mine, theirs = getattr(batch, field.name), getattr(expected, field.name)
        if not isinstance(mine, dict):
            mine, theirs = {"": mine}, {"": theirs}
        assert mine.keys() == theirs.keys()
        for key, rows in mine.items():
            np.testing.assert_array_equal(rows, theirs[key], err_msg=f"{field.name} {key}")
            assert rows.dtype == theirs[key].dtype


def conveyors():
    """Episodes of different lengths: after 62 steps the first has just begun one, after 61 it has just ended one."""
    return [functools.partial(ambs.make, "conveyor", max_episode_steps=length) for length in (30, 45, 100)]


MAKES = {
    "conveyor": (functools.partial(make_vec, conveyors(), seed=3), (61, 62)),
    "minatar": (functools.partial(make_vec, "minatar-seaquest", 3, seed=3), (150,)),
    "atari": (functools.partial(make_vec, "seaquest", 2, seed=3, frame_skip=20), (85,)),
}
GOES_ON = 40


@functools.cache
def original(name):
    make, moments = MAKES[name]
    with make(workers="inline") as vector:
        return record(vector, max(moments) + GOES_ON)


@pytest.mark.parametrize("workers", ["inline", 2])
@pytest.mark.parametrize("name", MAKES)
def test_a_new_vector_goes_on_where_another_one_was(name, workers):
    moments, given = original(name)
    make, stops = MAKES[name]
    with make(workers=workers) as vector:
        for stop in stops:
            then = moments[stop]
            # Otherwise little would be played again, or nothing that a generator could have got wrong.
            assert max(then.episodes) > 0
            assert len({len(played) for played in then.actions}) > 1
            assert_same(vector.replay(then.episodes, then.actions), then.batch)
            assert vector.episodes == then.episodes
            for time in range(stop, stop + GOES_ON):
                assert_same(vector.step(given[time]), moments[time + 1].batch)
                assert vector.episodes == moments[time + 1].episodes


def test_the_conveyors_were_at_a_beginning_and_at_an_end():
    moments, _ = original("conveyor")
    assert moments[61].batch.is_last[0]
    assert moments[62].batch.is_first[0]
    assert [len(played) for played in moments[62].actions] == [0, 16, 62]


@pytest.mark.parametrize("workers", ["inline", 2])
def test_every_episode_begins_with_the_seed_of_its_number(workers):
    with make_vec([functools.partial(Episodes, length) for length in (2, 3)], seed=5, workers=workers) as vector:
        moments, _ = record(vector, 14)
    drawn = set()
    for moment in moments:
        for env in np.flatnonzero(moment.batch.is_first):
            # The environments are kept: how many episodes this very one has begun is how often it was reset.
            assert moment.batch.obs["where"][env, 0] == moment.episodes[env]
            expected = np.random.default_rng(env_seed(5, int(env), moment.episodes[env])).random()
            assert moment.batch.obs["drawn"][env] == expected
            drawn.add(expected)
    assert len(drawn) == 5 + 4


def test_crashes_have_numbers_too():
    """Environment 1 cannot begin its second episode, and crashes at the second step of its fourth."""
    fates = {env_seed(5, 1, 1): (0, raise_error), env_seed(5, 1, 3): (2, raise_error)}
    make = functools.partial(
        make_vec, [functools.partial(Fated, 5, {}), functools.partial(Fated, 3, fates)], seed=5, workers="inline"
    )
    with make() as vector, pytest.warns(CrashWarning) as caught:
        moments, given = record(vector, 15)
    assert len(caught) == 2
    assert [moment.episodes[1] for moment in moments] == [0] * 4 + [2] * 4 + [3] * 3 + [4] * 4 + [5]
    assert np.flatnonzero([moment.batch.is_last[1] for moment in moments]).tolist() == [3, 7, 10, 14]
    with make() as vector, warnings.catch_warnings():
        warnings.simplefilter("ignore", CrashWarning)
        for time in range(15):
            then, after = moments[time], moments[time + 1]
            # Row 10 is that of the crash: it comes again, since the crash does.
            assert_same(vector.replay(then.episodes, then.actions), then.batch)
            assert_same(vector.step(given[time]), after.batch)
            assert vector.episodes == after.episodes


@pytest.mark.parametrize("workers", ["inline", 2])
def test_an_environment_that_its_seed_does_not_determine_is_noticed(workers):
    with make_vec([functools.partial(Fated, 9, {}), Moody], seed=5, workers=workers) as vector:
        moments, given = record(vector, 4)
        then = moments[-1]
        with pytest.raises(ReplayError) as error:
            vector.replay(then.episodes, then.actions)
        assert str(error.value) == (
            "episode 0 of environment 1 ended after 2 of its 4 actions when it was played again, because the "
            "environment is not determined by its seed and its actions; begin new episodes with reset()."
        )
        with pytest.raises(AmbsError, match=r"call reset\(\) first"):
            vector.step(given[0])
        batch = vector.reset()
        assert vector.episodes == [1, 1]
        assert batch.obs["drawn"].tolist() == [np.random.default_rng(env_seed(5, env, 1)).random() for env in (0, 1)]
        assert vector.step(given[0]).obs["where"][:, 1].tolist() == [1, 1]


@pytest.mark.parametrize(("crash_at", "after"), [((1, 2), 2), ((1, 0), 0)])
def test_a_crash_while_an_episode_is_played_again(crash_at, after):
    luck = iter([False])

    def once():
        if not next(luck, True):
            raise_error()

    class AtResetsToo(Episodes):
        def reset(self, *, seed=None, options=None):
            begun = super().reset(seed=seed)
            if (self.episode, 0) == self.crash_at:
                self.how()
            return begun

    with make_vec([lambda: AtResetsToo(40, crash_at=crash_at, how=once)], seed=5, workers="inline") as vector:
        then = record(vector, 4)[0][-1]
        with pytest.warns(CrashWarning), pytest.raises(ReplayError, match=f"after {after} of its 4.* crashed; begin"):
            vector.replay(then.episodes, then.actions)
        # What could not begin has begun the next one, which is given up.
        assert vector.episodes == [0 if after else 1]
        assert vector.reset().is_first.all()
        assert vector.episodes == [1 if after else 2]


def test_a_process_that_dies_takes_along_whoever_waits():
    """Environment 0 has ended its episode and environment 1 has not when environment 2 ends their process."""
    fates = {env_seed(5, 2, 0): (3, die)}
    made = [functools.partial(Fated, 1, {}), functools.partial(Fated, 9, {}), functools.partial(Fated, 9, fates)]
    action = np.full((3, 2), 0.5, np.float32)
    with make_vec(made, seed=5, workers=1) as vector:
        with pytest.warns(CrashWarning):
            batch = vector.replay([0, 0, 0], [action[:1], action[:1], action[:3]])
        assert batch.is_last.tolist() == [True, True, True]
        # What was over was over; the others' episodes are closed, with the last that was seen of them.
        assert batch.is_terminal.tolist() == [True, False, False]
        assert batch.reward.tolist() == [1.0, 0.0, 0.0]
        assert batch.obs["where"].tolist() == [[0, 1], [0, 1], [0, 2]]
        assert vector.step(action).is_first.all()
        assert vector.episodes == [1, 1, 1]


@pytest.mark.parametrize(
    ("episodes", "actions", "words"),
    [
        ([0], [[], []], r"episodes is \[0\].*each of 2 environments"),
        (0, [[], []], "episodes is 0"),
        ([0, -1], [[], []], "number of an episode is -1"),
        ([0, 0.5], [[], []], "number of an episode is 0.5"),
        ([0, 0], [[1]], "actions is"),
        ([0, 0], [[1], [5]], "outside of"),
        ([0, 0], [[1], 2], r"shape \(\)"),
        ([0, 0], [[1], [0.5]], "float64"),
        ([0, 0], [[1], [[1]]], r"shape \(1, 1\)"),
    ],
)
def test_what_cannot_be_played_is_one_sentence(episodes, actions, words):
    with make_vec("conveyor", 2, workers="inline") as vector:
        before = vector.reset()
        with pytest.raises(AmbsError, match=words) as error:
            vector.replay(episodes, actions)
        assert "\n" not in str(error.value)
        assert not isinstance(error.value, ReplayError)
        # Nothing has happened.
        assert vector.episodes == [0, 0]
        assert not vector.step([4, 4]).is_first.any()
        assert_same(vector.replay(np.array([0, 0]), [[], []]), before)

"""Bounded prescience beside an environment: what is judged, and that the search leaves no trace."""

import functools

import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.envs.catalogue import maker
from ambs.envs.guards import GuardConfig, guarded_maker
from ambs.envs.vector import CrashWarning, make_vec
from tests.envs.guards.worlds import BELT, CAUSEWAY, RIGHT, Fragile, Memorable, Savable, short, without_belts

FOUR = GuardConfig("prescience", depth=4)


def guarded(make, config=FOUR):
    return guarded_maker(make, config, name="the world")


def assert_same(mine, theirs):
    for name in ("obs", "reward", "cost", "is_first", "is_last", "is_terminal"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)


@pytest.mark.parametrize(
    ("env", "steps", "depth", "workers"),
    [("conveyor", 150, 5, "inline"), ("conveyor", 40, 5, 1), ("minatar-seaquest", 120, 4, "inline"),
     ("seaquest", 40, 2, "inline")],
)  # fmt: skip
def test_the_search_leaves_the_environment_as_it_was(env, steps, depth, workers):
    """What was played, played again where nobody searches, leads to the same rows: emulators, dice and time limits."""
    rng, make = np.random.default_rng(0), maker(env)
    with (
        make_vec(guarded(make, GuardConfig(depth=depth)), 2, seed=1, workers=workers) as searched,
        make_vec(make, 2, seed=1, workers="inline") as plain,
    ):
        assert_same(searched.reset(), plain.reset())
        number, overrides, episodes = int(searched.single_action_space.n), 0, 0
        for _ in range(steps):
            verdicts = searched.guard(rng.integers(number, size=2))
            overrides += verdicts.overridden.sum()
            assert (verdicts.steps[verdicts.asked] > 0).all()
            batch = searched.step(verdicts.actions)
            episodes += batch.is_last.sum()
            assert_same(batch, plain.step(verdicts.actions))
    assert overrides > 0 or env == "seaquest"
    assert episodes > 0 or (env, workers) != ("conveyor", "inline")


def test_a_guard_that_lets_everything_through_changes_nothing():
    """Where nothing can be violated, the proposed actions are played."""
    make = maker("minatar-seaquest", formula="hit | !hit")
    rng = np.random.default_rng(0)
    with make_vec(guarded(make), 1, seed=1, workers="inline") as searched:
        searched.reset()
        for _ in range(40):
            proposed = rng.integers(6, size=1)
            verdicts = searched.guard(proposed)
            assert verdicts.asked.tolist() == [not searched._last.is_last[0]]
            np.testing.assert_array_equal(verdicts.actions, proposed)
            searched.step(proposed)


@pytest.mark.parametrize(("limit", "overridden"), [(100, True), (5, True), (4, False)])
def test_an_episode_that_is_cut_off_is_searched_no_further(limit, overridden):
    """The acid is entered at the fifth step of the episode, and one is made before the guard is asked."""
    env = guarded(functools.partial(short, limit))()
    env.reset(seed=0)
    env.step(RIGHT)
    verdict = env.guard(RIGHT)
    assert verdict.overridden == overridden
    assert (verdict.action == RIGHT) == (not overridden)
    *_, truncated, _ = env.step(RIGHT)
    assert not truncated


@pytest.mark.parametrize(("make", "overridden"), [(BELT, False), (without_belts, True)])
def test_the_formula_of_the_wrapper_is_what_counts(make, overridden):
    """One step ahead is no acid, but a belt."""
    env = guarded(make, GuardConfig(depth=1))()
    env.reset(seed=0)
    env.step(RIGHT)
    assert env.guard(RIGHT).overridden == overridden
    # The wrapper counts the steps of the episode, and the search was none.
    assert getattr(env.env, "_steps", 1) == 1


def test_the_formula_of_a_run_is_what_counts():
    for formula, overridden in (("!acid", False), ("!belt", True)):
        env = guarded(functools.partial(BELT, formula=formula), GuardConfig(depth=1))()
        env.reset(seed=0)
        env.step(RIGHT)
        assert env.guard(RIGHT).overridden == overridden


def test_with_dice_of_its_own_it_does_not_foresee_chance():
    """On a causeway in acid, one step ahead: with the same dice no slip is walked into, with others some are; and what
    is drawn is not changed by the search."""
    make = maker("conveyor", map=CAUSEWAY, slip=0.5)
    baths = {}
    for dice in ("same", "own"):
        guard = GuardConfig(depth=1, dice=dice)
        with (
            make_vec(guarded(make, guard), 1, seed=1, workers="inline") as searched,
            make_vec(make, 1, seed=1, workers="inline") as plain,
        ):
            assert_same(searched.reset(), plain.reset())
            baths[dice] = 0
            for _ in range(60):
                actions = searched.guard([RIGHT]).actions
                batch = searched.step(actions)
                baths[dice] += int(batch.cost[0] > 0)
                assert_same(batch, plain.step(actions))
    assert baths["same"] == 0
    assert baths["own"] > 3


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Memorable(BELT()), "wrapper Memorable remembers cannot be put back"),
        (maker("CartPole-v1"), "the world cannot be searched, for it has no get_state"),
        (maker("Pendulum-v1"), "shield prescience chooses among Discrete"),
    ],
)
def test_what_cannot_be_searched(make, words):
    with pytest.raises(AmbsError, match=words) as error:
        guarded(make)
    assert "\n" not in str(error.value)


def test_a_wrapper_that_can_be_put_back():
    env = guarded(lambda: Savable(BELT()))()
    env.reset(seed=0)
    env.step(RIGHT)
    assert env.guard(RIGHT).overridden


def test_a_crash_while_searching_closes_the_episode():
    make = guarded(functools.partial(Fragile, "small"), GuardConfig(depth=1))
    stay = np.full(2, 4)
    # The first is the one that is tried out.
    with make_vec([guarded(maker("conveyor")), make], seed=0, workers="inline") as vector:
        vector.reset()
        for _ in range(2):
            assert vector.guard(stay).asked.all()
            before = vector.step(stay)
        with pytest.warns(CrashWarning, match="no such belt"):
            verdicts = vector.guard(stay)
        assert verdicts.asked.tolist() == [True, False]
        np.testing.assert_array_equal(verdicts.actions, stay)
        batch = vector.step(verdicts.actions)
        assert batch.is_last.tolist() == [False, True]
        assert not batch.is_terminal.any()
        np.testing.assert_array_equal(batch.obs[1], before.obs[1])
        batch = vector.step(stay)
        assert (batch.is_first.tolist(), vector.episodes) == ([False, True], [0, 1])
        assert vector.guard(stay).asked.all()


@pytest.mark.parametrize("workers", ["inline", 2])
def test_the_next_best_action_of_each_environment(workers):
    """A step to the right is refused, and nothing else is."""
    right = np.full(3, RIGHT)
    wanted = np.array([[0, 9, 1, 3, 2], [0, 9, 3, 2, 3], [4, 9, 3, 2, 1]])
    with make_vec(guarded(BELT), 3, seed=0, workers=workers) as vector:
        vector.reset()
        vector.step(right)
        for preferences, played in (
            (None, [0, 0, 0]),
            (wanted, [3, 2, 0]),
            (wanted[::-1] / 10, [0, 2, 3]),
            # What was told before is forgotten.
            (None, [0, 0, 0]),
        ):
            verdicts = vector.guard(right, preferences)
            assert verdicts.overridden.all()
            np.testing.assert_array_equal(verdicts.actions, played)
        # The proposed action is let through, whatever would be better.
        np.testing.assert_array_equal(vector.guard(right * 0 + 4, wanted).actions, [4, 4, 4])


def test_preferences_fit_the_actions():
    with make_vec(guarded(BELT), 2, seed=0, workers="inline") as vector:
        vector.reset()
        for wrong in (np.zeros(5), np.zeros((2, 4)), np.zeros((2, 5), complex), "best"):
            with pytest.raises(AmbsError, match=r"have to be numbers of shape \(2, 5\): a row an environment"):
                vector.guard([0, 0], wrong)
        assert vector.guard([0, 0], np.zeros((2, 5), int)).asked.all()


def test_environments_without_a_guard_say_so():
    with make_vec("conveyor", 1, workers="inline") as vector:
        vector.reset()
        with pytest.raises(AmbsError, match="have no guard to ask"):
            vector.guard([0])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "sound"}, 'no shield "sound"'),
        ({"depth": 0}, "depth is 0"),
        ({"dice": "loaded"}, "dice of the shield are 'loaded'"),
        ({"Delta": 1.0}, "Delta is 1"),
    ],
)
def test_bad_numbers(wrong, words):
    with pytest.raises(ambs.AmbsError, match=words):
        GuardConfig(**wrong)

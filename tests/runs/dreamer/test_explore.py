"""Random proposals behind the shield, for a while and in every other environment."""

import dataclasses
from types import SimpleNamespace

import gymnasium
import jax
import numpy as np
import pytest
import tyro

from ambs import AmbsError
from ambs.agents import shielding
from ambs.agents.player import ActionCodec
from ambs.agents.shielding import ShieldConfig
from ambs.commands.train import Train, with_a_world
from ambs.runs.dreamer import train
from ambs.runs.dreamer import trainee as trainee_module
from ambs.runs.dreamer.config import StartConfig
from ambs.runs.dreamer.counters import Counters
from tests.runs.dreamer.small import NO_TIME, small, weights
from tests.runs.dreamer.test_shielded import LEARNER

LOOKS = ShieldConfig("latent", explore=30)


def exploring(steps):
    """Where the goal is next to the start, and is met in the random steps of the beginning."""
    return small(env_options={"map": ["GS..", "...."]}, learner=LEARNER, shield=LOOKS, steps=steps, hold=3)


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    """A whole run, and what was proposed in it at every step that was not random."""
    asked = []

    def listening(*arguments, explored, **rest):
        proposed, memory, decision = shielding.act_shielded(*arguments, explored=explored, **rest)
        asked.append((np.asarray(explored[0]), np.asarray(explored[1]), np.asarray(proposed)))
        return proposed, memory, decision

    path = tmp_path_factory.mktemp("explore") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainee_module, "act_shielded", listening)
        summary = train(exploring(160), path)
    return path, summary, [np.stack(each) for each in zip(*asked, strict=True)]


def test_every_other_environment_explores_for_so_many_steps(heard):
    where = heard[2][0]
    # 30 steps, two at a time, begun with the first that was not random.
    assert where[:15].tolist() == [[False, True]] * 15
    assert not where[15:].any()


def test_there_what_is_proposed_is_random_and_elsewhere_it_is_the_task_policys(heard):
    where, drawn, proposed = heard[2]
    np.testing.assert_array_equal(proposed[where], drawn[where])
    assert (proposed[~where] != drawn[~where]).any()
    assert len(np.unique(drawn.argmax(axis=-1))) == drawn.shape[-1], "any action may come"


def test_resumed_within_it_it_is_the_same_run(tmp_path, heard):
    path, before, _ = heard
    train(exploring(76), tmp_path)
    summary = train(exploring(160), tmp_path)
    assert {**summary, **NO_TIME} == {**before, **NO_TIME}
    mine, theirs = weights(tmp_path), weights(path)
    assert all((mine[name] == theirs[name]).all() for name in theirs)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"explore": -1}, "random actions are to be proposed for -1 steps"),
        ({"first": "resampled"}, "nobody would look at them before they are played"),
        ({"when": 0.3}, "nobody knows when; leave out --explore, or --shield-when"),
    ],
)
def test_what_does_not_go_with_it(changes, sentence):
    with pytest.raises(AmbsError, match=sentence):
        dataclasses.replace(LOOKS, **changes)


def test_one_environment_has_no_other():
    with pytest.raises(AmbsError, match="and there is only one; take more --envs"):
        small(learner=LEARNER, shield=LOOKS, envs=1)


@pytest.mark.parametrize(
    ("options", "steps"),
    [([], 3000), (["--explore", "0"], 0), (["--first", "resampled", "--criterion", "paper"], 0),
     (["--shield-when", "0.3"], 0), (["--envs", "1"], 0)],
)  # fmt: skip
def test_the_example_explores_where_it_can(options, steps):
    command = with_a_world(tyro.cli(Train, args=options))
    assert command.settings().shield.explore == steps


def explores(steps, *, rewarded=True, **changes):
    """In which of two environments, at this step."""
    trainee = object.__new__(trainee_module.DreamerTrainee)
    trainee.config = small(learner=LEARNER, shield=dataclasses.replace(LOOKS, after=100), **changes)
    trainee.codec = ActionCodec(gymnasium.spaces.Discrete(5))
    position = SimpleNamespace(action=np.zeros((2, 5)), batch=SimpleNamespace(is_first=np.zeros(2, bool)))
    return trainee._explored(position, Counters(steps=steps, rewarded=rewarded), jax.random.key(0))[0].tolist()


def test_it_begins_with_the_shield():
    """Not with the first step that is not random."""
    assert explores(64 + 100 + 29) == [False, True]
    assert explores(64 + 100 + 30) == [False, False]


def test_until_something_has_paid_all_environments_explore_however_long():
    assert explores(64 + 100, rewarded=False) == [True, True]
    assert explores(64 + 100 + 3000, rewarded=False) == [True, True]
    # What the run starts from has met what there is to meet.
    assert explores(64 + 100, rewarded=False, start=StartConfig("episodes.npz")) == [False, True]

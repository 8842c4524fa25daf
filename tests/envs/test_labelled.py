"""Labels become a cost, in an environment of ours and around anybody's."""

import gymnasium
import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.envs import Conveyor, Labelled, cost_of
from ambs.envs.labelled import as_labels


def test_cost_is_zero_where_the_formula_holds_and_c_where_not():
    labels = {"acid": np.array([True, True, False]), "suit": np.array([True, False, False])}
    np.testing.assert_array_equal(cost_of("acid => suit", labels, 7.0), [0, 7, 0])
    assert cost_of("!acid", {"acid": True}) == 10.0
    assert cost_of(ambs.parse("!acid"), {"acid": False}) == 0.0


@pytest.mark.parametrize("cost", [0, -1, float("inf"), float("nan")])
def test_c_is_positive(cost):
    with pytest.raises(AmbsError, match="cost is"):
        cost_of("!acid", {"acid": True}, cost)


def test_labels_are_a_dictionary_or_names_with_all_atoms():
    assert as_labels({"a": np.True_, "b": 0}) == {"a": True, "b": False}
    assert as_labels({"b"}, ["a", "b"]) == {"a": False, "b": True}
    with pytest.raises(AmbsError, match="need the list of all atoms"):
        as_labels(["b"])
    with pytest.raises(AmbsError, match='"c" is not among the atoms'):
        as_labels(["c"], ["a", "b"])


def hole(observation, info):
    """FrozenLake's holes on its 4×4 map."""
    return {"hole"} if observation in (5, 7, 11, 12) else set()


def test_an_environment_nobody_here_wrote_gets_labels_and_cost():
    env = Labelled(gymnasium.make("FrozenLake-v1", is_slippery=False), "!hole", 5.0, atoms=["hole"], labelling=hole)
    _, info = env.reset(seed=0)
    assert (info["labels"], info["cost"]) == ({"hole": False}, 0.0)
    env.step(1)
    observation, _, terminated, _, info = env.step(2)
    assert (observation, terminated) == (5, True)
    assert (info["labels"], info["cost"]) == ({"hole": True}, 5.0)
    assert env.spec is not None


def test_labels_that_are_there_are_judged_anew():
    env = Labelled(Conveyor("S>G", observation="state"), "!belt", 3.0)
    _, info = env.reset(seed=0)
    assert info["cost"] == 0
    costs = [env.step(1)[-1] for _ in range(60)]
    assert {(info["labels"]["belt"], info["cost"]) for info in costs} == {(True, 3.0), (False, 0.0)}


def test_what_cannot_work_is_said():
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(AmbsError, match="puts no labels into its info"):
        Labelled(env, "!hole").reset()
    with pytest.raises(AmbsError, match='no atom "hol"'):
        Labelled(env, "!hol", atoms=["hole"])
    with pytest.raises(AmbsError, match="cannot be read off the labels"):
        Labelled(env, "P>=0.9 [ G<=30 !hole ]")
    with pytest.raises(AmbsError, match='no atom "lava".*"acid"'):
        Labelled(Conveyor(), "!lava").reset()

"""Environments that are not of the catalogue: what they give decides where their labels and their cost come from."""

import gymnasium
import numpy as np
import pytest

import ambs
from ambs import AmbsError
from ambs.envs.catalogue import maker
from ambs.envs.vector import make_vec
from tests.envs.foreign_worlds import Pond

DOWN = np.float32([0.0, 2.0])


def name(kind):
    return f"tests.envs.foreign_worlds:Pond-{kind}-v0"


def episode(env):
    """The infos of an episode of five steps into the deep, in which the third is the first beyond the shore."""
    _, info = env.reset(seed=1)
    return [info, *(env.step(DOWN)[-1] for _ in range(5))]


@pytest.mark.parametrize(
    ("kind", "formula", "atoms", "costs"),
    [
        ("labels-cost", None, ["deep", "late"], [0, 0, 2, 2, 2, 2]),
        ("labels-sixth", None, ["deep", "late"], [0, 0, 2, 2, 2, 2]),
        ("labels-cost", "!deep", ["deep", "late"], [0, 0, 10, 10, 10, 10]),
        ("labels-sixth", "deep", ["deep", "late"], [10, 10, 0, 0, 0, 0]),
        ("labels", "!late & !deep", ["deep", "late"], [0, 0, 10, 10, 10, 10]),
        ("cost", None, ["violation"], [0, 0, 10, 10, 10, 10]),
        ("sixth", None, ["violation"], [0, 0, 10, 10, 10, 10]),
        ("names-cost", None, ["violation"], [0, 0, 10, 10, 10, 10]),
        ("names-sixth", None, ["violation"], [0, 0, 10, 10, 10, 10]),
        ("nothing", None, ["violation"], [0, 0, 0, 0, 0, 0]),
    ],
)
def test_where_labels_and_cost_come_from(kind, formula, atoms, costs):
    env = ambs.make(name(kind), **({} if formula is None else {"formula": formula}))
    infos = episode(env)
    assert [info["cost"] for info in infos] == costs
    assert all(list(info["labels"]) == atoms for info in infos)
    deep = [False, False, True, True, True, True] if kind != "nothing" else [False] * 6
    assert [info["labels"][atoms[0]] for info in infos] == deep
    assert [info["time"] for info in infos] == [0, 1, 2, 3, 4, 5]


def test_the_time_limit_is_the_registered_one_or_the_one_that_is_given():
    for limit, given in ((20, {}), (7, {"max_episode_steps": 7})):
        env = ambs.make(name("sixth"), **given)
        env.reset(seed=0)
        assert [env.step(DOWN)[3] for _ in range(limit)] == [False] * (limit - 1) + [True]
    env = ambs.make(name("sixth"), max_episode_steps=-1)
    env.reset(seed=0)
    assert not any(env.step(DOWN)[3] for _ in range(30))


def test_options_reach_the_environment():
    assert [info["cost"] for info in episode(ambs.make(name("cost"), shore=7.0))] == [0, 0, 0, 0, 10, 10]


def test_names_of_the_catalogue_win():
    gymnasium.register("conveyor", entry_point=Pond)
    try:
        assert set(ambs.make("conveyor").reset()[1]["labels"]) == {"acid", "goal", "belt"}
    finally:
        del gymnasium.registry["conveyor"]


@pytest.mark.parametrize(
    ("env", "options", "words"),
    [
        (name("labels"), {}, r"gives labels \(deep, late\) but no cost; say what has to hold of them with a formula"),
        (
            name("nothing"),
            {"formula": "!deep"},
            "gives no labels, so there is nothing to evaluate '!deep' on; see docs",
        ),
        (name("cost"), {"formula": "!deep"}, "on; leave it out, and the cost says what is violated"),
        (name("names"), {"formula": "!deep"}, r"the labels of .* are set\(\), .* atoms=\[...\]"),
        (name("labels"), {"formula": "!dep"}, 'no atom "dep".*deep'),
        (name("cost"), {"depth": 3}, 'takes no option "depth"; it takes gives, shore'),
        (name("cost"), {"shore": "far"}, 'Pond-cost-v0 cannot be made with shore="far": TypeError: .<. not supported'),
        (name("cost"), {"shore": -1}, "Pond-cost-v0 cannot be made with shore=-1: ValueError: there is no shore"),
        ("FrozenLake-v1", {"map_name": "9x9"}, "cannot be made with map_name=\"9x9\": KeyError: '9x9'"),
        ("CartPole-v1", {"max_episode_steps": 0}, "max_episode_steps is 0"),
        ("conveyor", {"obs": "image"}, 'conveyor takes no option "obs"; it takes map, slip, observation'),
        ("conveyor", {"slip": 2}, "slip"),
        ("conveyer", {}, 'no environment "conveyer"; did you mean conveyor'),
        ("CartPol-v1", {}, "did you mean CartPole-v1"),
        ("cartpole", {}, "did you mean CartPole-v1"),
        ("tests.envs.foreign_worlds:Pond-costs-v0", {}, "did you mean Pond-cost-v0"),
        ("nowhere.to_be_found:Pond-v0", {}, "No module named 'nowhere'; install it, or put its folder on PYTHONPATH"),
        ("quetzalcoatlus", {}, "`ambs envs` lists ours"),
        ("a:b:MyEnv-v0", {}, "has to be an id, or e.g. my_package.my_module:MyEnv-v0"),
        (":MyEnv-v0", {}, "has to be an id, or e.g."),
        ("a b", {}, 'there is no environment "a b"'),
    ],
)
def test_mistakes_are_one_sentence(env, options, words):
    with pytest.raises(AmbsError, match=words) as error:
        episode(ambs.make(env, **options))
    assert "\n" not in str(error.value)


def test_what_is_no_mistake_of_the_options_keeps_its_traceback():
    def broken():
        raise TypeError("in the middle of it")

    gymnasium.register("Broken-v0", entry_point=broken)
    try:
        with pytest.raises(TypeError, match="in the middle"):
            ambs.make("Broken-v0")
    finally:
        del gymnasium.registry["Broken-v0"]


def test_only_what_cannot_be_violated_has_a_note():
    note = "CartPole-v1 gives neither labels nor cost, so nothing can be violated; see docs/your-own-environment.md."
    assert maker("CartPole-v1").note == note
    assert maker(name("cost")).note is None


def test_a_registration_that_only_this_process_has_reaches_a_worker():
    class Local(Pond):
        """A class that a worker could not import."""

    gymnasium.register("Local-v0", entry_point=Local, kwargs={"gives": ["cost"]}, max_episode_steps=3)
    try:
        with make_vec("Local-v0", 2, workers=1, shore=1.0) as vec:
            vec.reset()
            rows = [vec.step(np.stack([DOWN, 0 * DOWN])) for _ in range(3)]
    finally:
        del gymnasium.registry["Local-v0"]
    assert [row.cost.tolist() for row in rows] == [[10.0, 0.0]] * 3
    assert [row.is_last.all() for row in rows] == [False, False, True]

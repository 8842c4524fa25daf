"""Labels become a cost, in an environment of ours and around anybody's."""

import warnings

import gymnasium
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import ambs
from ambs import AmbsError
from ambs.envs import Conveyor
from ambs.envs.encoding import require_encodable
from ambs.envs.labelling import Labelled, labelled
from ambs.envs.labels import Costs, as_labels, cost_of
from ambs.world_model.parts import parts_of


def test_cost_is_zero_where_the_formula_holds_and_c_where_not():
    labels = {"acid": np.array([True, True, False]), "suit": np.array([True, False, False])}
    np.testing.assert_array_equal(cost_of("acid => suit", labels, 7.0), [0, 7, 0])
    assert cost_of("!acid", {"acid": True}) == 10.0
    assert cost_of(ambs.parse("!acid"), {"acid": False}) == 0.0


def test_costs_of_one_state_after_the_other():
    costs = Costs("a => b", 3.0, atoms=["b", "a"])
    for a, b, cost in [(True, False, 3.0), (True, True, 0.0), (False, False, 0.0), (True, False, 3.0)]:
        assert costs({"a": a, "b": b}) == cost
        assert costs({"b": b, "a": a}) == cost


@pytest.mark.parametrize("cost", [0, -1, float("inf"), float("nan")])
def test_c_is_positive(cost):
    with pytest.raises(AmbsError, match="cost is"):
        cost_of("!acid", {"acid": True}, cost)
    with pytest.raises(AmbsError, match="cost is"):
        Costs("!acid", cost)


def test_labels_are_a_dictionary_or_names_with_all_atoms():
    assert as_labels({"a": np.True_, "b": False}) == {"a": True, "b": False}
    assert as_labels({"a": np.array(True), "b": jnp.array(False)}) == {"a": True, "b": False}
    assert all(type(value) is bool for value in as_labels({"a": np.True_, "b": jnp.array(False)}).values())
    assert as_labels({"b"}, ["a", "b"]) == {"a": False, "b": True}
    with pytest.raises(AmbsError, match="need the list of all atoms"):
        as_labels(["b"])
    with pytest.raises(AmbsError, match='"c" is not among the atoms'):
        as_labels(["c"], ["a", "b"])


def hole(observation, info):
    """FrozenLake's holes on its 4×4 map."""
    return {"hole"} if observation in (5, 7, 11, 12) else set()


def lake():
    return gymnasium.make("FrozenLake-v1", is_slippery=False)


FALL = (1, 2)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: Labelled(env, "!hole", 5.0, atoms=["hole"], labelling=hole),
        lambda env: labelled(env, hole, formula="!hole", cost=5.0, atoms=["hole"]),
        lambda env: labelled(env, {"hole": lambda cell, info: cell in (5, 7, 11, 12)}, formula="!hole", cost=5.0),
        lambda env: labelled(env, lambda cell, info: {"hole": cell in (5, 7, 11, 12)}, formula="!hole", cost=5.0),
    ],
    ids=["a wrapper", "names", "one for each", "one for all"],
)
def test_an_environment_nobody_here_wrote_gets_labels_and_cost(wrap):
    env = wrap(lake())
    _, info = env.reset(seed=0)
    assert (info["labels"], info["cost"]) == ({"hole": False}, 0.0)
    assert env.step(FALL[0])[-1]["cost"] == 0.0
    observation, _, terminated, _, info = env.step(FALL[1])
    assert (observation, terminated) == (5, True)
    assert (info["labels"], info["cost"]) == ({"hole": True}, 5.0)
    assert info["prob"] == 1.0, "what the environment itself had to tell is still there"
    assert env.spec is not None


def test_labels_that_are_there_are_judged_anew():
    env = labelled(Conveyor("S>G", observation="state"), formula="!belt", cost=3.0)
    _, info = env.reset(seed=0)
    assert info["cost"] == 0
    costs = [env.step(1)[-1] for _ in range(60)]
    assert {(info["labels"]["belt"], info["cost"]) for info in costs} == {(True, 3.0), (False, 0.0)}


def test_a_labeller_sees_observation_and_info():
    env = labelled(lake(), {"sure": lambda cell, info: info["prob"] == 1, "first": lambda cell, info: cell == 0},
                   formula="sure & first")  # fmt: skip
    assert env.reset(seed=0)[1]["labels"] == {"sure": True, "first": True}
    assert env.step(1)[-1]["labels"] == {"sure": True, "first": False}


class Rover(gymnasium.Env):
    """A Dict of a picture and a vector, and a Box of actions."""

    observation_space = spaces.Dict(
        {"camera": spaces.Box(0, 255, (8, 8, 3), np.uint8), "speed": spaces.Box(-9.0, 9.0, (1,), np.float64)}
    )
    action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.speed = np.zeros(1)
        return self.observe(), {}

    def step(self, action):
        self.speed = np.clip(self.speed + action, -9, 9)
        return self.observe(), 0.0, False, False, {}

    def observe(self):
        return {"camera": np.zeros((8, 8, 3), np.uint8), "speed": self.speed.astype(np.float64)}


def rover():
    return labelled(Rover(), {"fast": lambda observation, info: observation["speed"][0] > 1.5}, formula="!fast")


def test_dictionaries_and_continuous_actions():
    env = rover()
    with warnings.catch_warnings():
        # The checker advises against checking wrappers, and this one is what is checked here.
        warnings.filterwarnings("ignore", ".*different from the unwrapped version")
        check_env(env, skip_render_check=True)
    env.reset(seed=0)
    assert [env.step(np.ones(1, np.float32))[-1]["cost"] for _ in range(3)] == [0.0, 10.0, 10.0]


def test_several_at_once():
    envs = gymnasium.vector.SyncVectorEnv([rover, rover])
    envs.reset(seed=0)
    envs.step(np.array([[1], [0]], np.float32))
    info = envs.step(np.array([[1], [0]], np.float32))[-1]
    np.testing.assert_array_equal(info["cost"], [10.0, 0.0])
    np.testing.assert_array_equal(info["labels"]["fast"], [True, False])


def test_what_is_wrong_with_the_formula_is_said_at_once():
    with pytest.raises(AmbsError, match='no atom "hol"'):
        Labelled(lake(), "!hol", atoms=["hole"])
    with pytest.raises(AmbsError, match='no atom "fats" .did you mean "fast"'):
        labelled(lake(), {"fast": lambda observation, info: True}, formula="!fats")
    with pytest.raises(AmbsError, match="cannot be read off the labels"):
        labelled(lake(), formula="P>=0.9 [ G<=30 !hole ]")
    with pytest.raises(AmbsError, match='no atom "lava".*"acid"'):
        labelled(Conveyor(), formula="!lava").reset()
    with pytest.raises(AmbsError, match="puts no labels into its info"):
        labelled(lake(), formula="!hole").reset()


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ({"fast": lambda observation: True}, r'labeller of "fast" takes \(observation\), and has to take'),
        (lambda observation: {"fast": True}, r"the labeller takes \(observation\), and has to take"),
        ({"fast": 3.5}, 'labeller of "fast" is 3.5, and has to be a function'),
        (["fast"], "labels is .'fast'., and has to be a dictionary"),
    ],
)
def test_what_cannot_be_a_labeller_is_said_at_once(labels, sentence):
    with pytest.raises(AmbsError, match=sentence):
        labelled(lake(), labels, formula="!fast")


def test_a_name_is_no_environment():
    with pytest.raises(AmbsError, match="env is 'CartPole-v1', and has to be a Gymnasium environment"):
        labelled("CartPole-v1", formula="!fast")


def test_atoms_are_not_said_twice():
    with pytest.raises(AmbsError, match="leave it out"):
        labelled(lake(), {"fast": lambda observation, info: True}, formula="!fast", atoms=["fast"])


@pytest.mark.parametrize("each", [True, False], ids=["one for each", "one for all"])
def test_a_labeller_that_raises(each):
    def fast(observation, info):
        return 1 / (observation - 4) > 0

    labels = {"slow": lambda observation, info: False, "fast": fast}
    env = labelled(lake(), labels if each else lambda *seen: {"fast": fast(*seen)}, formula="!fast")
    who = 'the labeller of "fast"' if each else "the labeller"
    for _ in range(2):
        env.reset(seed=0)
        env.step(2)
    env.reset(seed=0)
    with pytest.raises(AmbsError, match=f"^after step 1 of the episode, {who} raised ZeroDivisionError.*") as caught:
        env.step(1)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(AmbsError, match='^at reset, the labeller of "fast" raised KeyError'):
        labelled(lake(), {"fast": lambda observation, info: info["speed"]}, formula="!fast").reset()


@pytest.mark.parametrize(
    ("value", "said"),
    [(None, "None"), (1, "1"), (0.5, "0.5"), ("yes", "'yes'"), (np.int64(0), r"np.int64\(0\)"),
     (np.array([True]), r"an array of shape \(1,\)"), (np.array([True, False]), r"an array of shape \(2,\)")],
)  # fmt: skip
def test_a_labeller_that_returns_no_bool(value, said):
    sentence = f'^at reset, the label "fast" is {said}, and has to be True or False'
    with pytest.raises(AmbsError, match=sentence):
        labelled(lake(), {"fast": lambda observation, info: value}, formula="!fast").reset()
    with pytest.raises(AmbsError, match=sentence):
        labelled(lake(), lambda observation, info: {"fast": value}, formula="!fast").reset()


@pytest.mark.parametrize("given", [None, 3, "fast", True])
def test_labels_that_are_none(given):
    with pytest.raises(AmbsError, match="labels are a dictionary from atom to bool or the names of the true atoms"):
        labelled(lake(), lambda observation, info: given, formula="!fast", atoms=["fast"]).reset()


NUMBERS = spaces.Box(-1.0, 1.0, (3,))
IMAGE = spaces.Box(0, 255, (64, 64, 3), np.uint8)


@pytest.mark.parametrize(
    "space",
    [NUMBERS, IMAGE, spaces.Box(0, 1, (4, 5)), spaces.Discrete(3), spaces.MultiBinary(4), spaces.MultiBinary([2, 3]),
     spaces.Box(0, 1, (3,), np.bool_), spaces.Dict({"a": NUMBERS, "b": IMAGE, "c": spaces.Discrete(2)})],
)  # fmt: skip
def test_spaces_that_can_be_encoded(space):
    require_encodable(space)
    # The world model takes what is allowed here, all of it.
    assert all(part.size > 0 for part in parts_of(space))


@pytest.mark.parametrize(
    ("space", "where"),
    [
        (spaces.Text(5), "the observation is Text"),
        (spaces.Sequence(NUMBERS), "the observation is Sequence"),
        (spaces.Graph(NUMBERS, None), "the observation is Graph"),
        (spaces.OneOf([NUMBERS, IMAGE]), "the observation is OneOf"),
        (spaces.Box(0, 1, ()), "the observation is Box"),
        (spaces.Box(0, 1, (2, 2, 2, 2)), "the observation is Box"),
        (spaces.Dict({"a": NUMBERS, "note": spaces.Text(5)}), r'the observation\["note"\] is Text'),
        (spaces.MultiDiscrete([2, 3]), "the observation is MultiDiscrete"),
        (spaces.Tuple([NUMBERS, IMAGE]), "the observation is Tuple"),
        (spaces.Dict({"a": spaces.Dict({"b": NUMBERS})}), r'the observation\["a"\] is Dict'),
    ],
)
def test_an_observation_that_cannot_be_encoded(space, where):
    env = Rover()
    env.observation_space = space
    with pytest.raises(AmbsError, match=f"^{where}.* cannot be encoded; make it a Box"):
        labelled(env, formula="!fast")


def test_choices_are_counted_from_0():
    with pytest.raises(AmbsError, match=r'^the observation\["a"\] is Discrete\(3, start=1\), and choices have to be'):
        require_encodable(spaces.Dict({"a": spaces.Discrete(3, start=1)}))

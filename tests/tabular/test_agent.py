"""Tabular AMBS learns: on the paper's Figure 1 it delivers as well as a safe robot can, and stops falling into acid."""

import gymnasium
import pytest

from ambs import AmbsError
from ambs.errors import FormulaError
from ambs.tabular import TabularAgent, TabularConfig, interact, no_guard


def run(steps, config, *, seed=0, guard=None, map="ambs:ConveyorFigure1-v0"):
    env = gymnasium.make(map, observation="state")
    return list(interact(env, TabularAgent(env, config, seed=seed, guard=guard), steps, seed=seed))


@pytest.fixture(scope="module")
def shielded():
    return run(3500, TabularConfig(explore_steps=2500), seed=1)


@pytest.fixture(scope="module")
def unshielded():
    return run(3500, TabularConfig(explore_steps=2500), seed=1, guard=no_guard)


def test_it_learns_to_deliver(shielded):
    """The best that never touches acid is 9.1 deliveries in 100 steps; a random walk makes 0.1."""
    assert sum(step.reward for step in shielded[-1000:]) > 65


def test_it_learns_not_to_fall(shielded, unshielded):
    late, blind = (sum(step.violated for step in steps[-1000:]) for steps in (shielded, unshielded))
    assert late <= 2
    assert blind >= 4
    assert sum(step.violated for step in shielded) < sum(step.violated for step in unshielded)


def test_the_shield_neither_sleeps_nor_always_fires(shielded):
    overridden = sum(bool(step.decision.overridden) for step in shielded)
    assert 0 < overridden < 0.5 * len(shielded)


def test_the_same_seed_gives_the_same_run():
    config = TabularConfig(explore_steps=50)
    first, second = (run(120, config, seed=5) for _ in range(2))
    assert [(s.state, s.played, s.following) for s in first] == [(s.state, s.played, s.following) for s in second]


class Corridor(gymnasium.Env):
    """Three cells; the right one is the goal and ends the episode, the left one is a hole and ends it too."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.place = 1
        return 1, {"labels": {"hole": False, "goal": False}}

    def step(self, action):
        self.place += 1 if action else -1
        info = {"labels": {"hole": self.place == 0, "goal": self.place == 2}}
        return self.place, float(self.place == 2), True, False, info


def test_where_an_episode_ends_is_not_unknown():
    """Nothing is ever played at the goal; an agent that took it for unknown, and so unsafe, would not go there."""
    env = Corridor()
    config = TabularConfig("P>=0.9 [ G<=5 !hole ]", explore_steps=20)
    steps = list(interact(env, TabularAgent(env, config, seed=0), 60, seed=0))
    assert sum(step.violated for step in steps) == 1
    assert all(step.reward == 1 for step in steps[20:])


def test_the_formula_says_what_a_violation_is():
    """Not the environment's own cost: a robot told not to be at the goal stops delivering."""
    env = gymnasium.make("ambs:ConveyorFigure1-v0", observation="state")
    config = TabularConfig("P>=0.9 [ G<=10 !goal ]", explore_steps=300)
    steps = list(interact(env, TabularAgent(env, config, seed=0), 400, seed=0))
    assert all(step.violated == (step.reward > 0) for step in steps)


def test_an_environment_without_labels_is_refused():
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(AmbsError, match="no labels"):
        next(interact(env, TabularAgent(env, TabularConfig(), seed=0), 1, seed=0))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"formula": "P>=0.9 [ G !acid ]"}, "no step bound"),
        ({"explore_steps": -1}, "negative"),
        ({"discount": 1.0}, "discount is 1"),
        ({"exploration": 2.0}, "exploration is 2"),
        ({"replan_every": 0}, "replan_every is 0"),
        ({"penalty": "some"}, "refusals"),
        ({"formula": "P>=0.9 [ X !acid ]"}, "form P>=p"),
        ({"formula": "P>=0.9 [ !acid U<=30 goal ]"}, "form P>=p"),
        ({"optimism": float("nan")}, "optimism"),
    ],
)
def test_bad_settings_are_one_sentence(wrong, message):
    with pytest.raises((AmbsError, FormulaError), match=message):
        TabularConfig(**wrong)


def test_only_numbered_states_will_do():
    with pytest.raises(AmbsError, match="observations that are numbered from 0"):
        TabularAgent(gymnasium.make("ambs:Conveyor-v0", observation="image"), TabularConfig(), seed=0)

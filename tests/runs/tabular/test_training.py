"""A training from end to end, short: what is recorded, what is drawn, and what is refused."""

import numpy as np
import pytest

from ambs import AmbsError
from ambs.errors import FormulaError
from ambs.runs.tabular.exact import Truth
from ambs.runs.tabular.figure import draw
from ambs.runs.tabular.record import record
from ambs.runs.tabular.training import Settings, conveyor, open_world, train
from ambs.tabular.agent import Step
from ambs.types import Decision


@pytest.fixture(scope="module")
def trained():
    settings = Settings(steps=300, explore_steps=200, seed=2)
    env = open_world("conveyor", None, settings.config.safe)
    return env, train(env, settings.agents(env), settings, lambda steps, name: steps)


def test_both_agents_are_recorded(trained):
    _, training = trained
    for run in (training.shielded, training.unshielded):
        assert run.steps == 300
        assert len(run.returns) == len(run.violations) == len(run.overrides) == len(run.traces) == 3
    assert sum(training.shielded.traces) >= 300 * 16
    assert sum(training.unshielded.traces) == sum(training.unshielded.overrides) == 0
    assert sum(training.shielded.overrides) == sum(training.shielded.refused.values())


def test_a_picture_is_drawn(trained, tmp_path):
    env, training = trained
    draw(training, conveyor(env), "title", 6.35, tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def steps(count, **fields):
    decision = Decision(0, fields.pop("overridden", False), 1.0, 1.0, 1.0, 16)
    return [Step(3, 0, 0, 3, 0.5, True, False, False, decision) for _ in range(count)]


def test_blocks_are_summed_and_the_rest_is_left_out():
    run = record(steps(250, overridden=True))
    assert run.returns == [50.0, 50.0]
    assert run.violations == run.overrides == [100, 100]
    assert run.traces == [1600, 1600]
    assert run.refused == {3: 250}
    assert run.final_return(1) == 50.0


def test_the_formula_decides_what_costs():
    """A robot that must not ride is charged on the belt, and not in the acid."""
    env = open_world("conveyor", None, Settings("!belt").config.safe)
    truth = Truth.of(conveyor(env))
    env.reset(seed=0)
    costs = set()
    for _ in range(300):
        _, _, _, _, info = env.step(env.action_space.sample())
        costs.add((info["labels"]["belt"], info["labels"]["acid"], info["cost"] > 0))
    assert costs <= {(False, False, False), (True, False, True), (False, True, False)}
    assert np.any(truth.unsafe)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"formula": "P>=0.9 [ F<=3 acid ]"}, "form P>=p \\[ G<=n safe \\]"),
        ({"formula": "P>=0.9 [ G<=0 !acid ]"}, "at least 1 ahead"),
        ({"test": "D"}, "choose one of auto, sharp, A, B, C, paper"),
        ({"steps": 0}, "number of steps is 0"),
        ({"steps": 150}, "multiple of 100"),
    ],
)
def test_settings_that_cannot_be(wrong, message):
    with pytest.raises((AmbsError, FormulaError), match=message):
        Settings(**wrong)


def test_a_test_that_is_too_lax_for_the_formula_is_refused():
    settings = Settings("P>=0.99 [ G<=30 !acid ]", test="A")
    with pytest.raises(FormulaError, match="tolerates only 0.01"):
        settings.agent(open_world("conveyor", None, settings.config.safe), shielded=True)


def test_a_formula_about_other_atoms():
    with pytest.raises(FormulaError, match='no atom "lava"'):
        open_world("conveyor", None, Settings("!lava").config.safe)

"""When a shield may begin: skills by hand, windows that close, and what is saved of them."""

import json

import numpy as np
import pytest

from ambs import AmbsError
from ambs.agents.shielding import ShieldConfig
from ambs.envs.vector import Batch
from ambs.runs.dreamer import calibration
from ambs.runs.dreamer.calibration import Calibration, Skill


def came(cost, *, first=False, last=False, terminal=False):
    """One step of one environment."""
    flags = (np.array([flag]) for flag in (first, last or terminal, terminal))
    return Batch(np.zeros(1), np.zeros(1, np.float32), np.array([cost], np.float32), {}, *flags)


def told(*steps, look_ahead=3, bar=2.0):
    """After forecasts of the window and what came of each; the next step is always given even chances."""
    made = Calibration(bar, look_ahead)
    for within, batch in steps:
        made.foretell(np.array([0.5]), np.array([within]))
        made.see(batch)
    return made


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(calibration, "ENOUGH", 1.0)
    # Nothing fades, so that the sums are whole numbers.
    monkeypatch.setattr(calibration, "MEMORY", float("inf"))


def test_the_skill_by_hand():
    """p = (.5, .5, 1, 0) and y = (1, 0, 1, 0): squares .25 + .25 over 4, and f (1 - f) = .25: 1 - .125 / .25."""
    skill = Skill()
    assert skill.value is None
    for forecast, happened in ((0.5, True), (0.5, False), (1.0, True), (0.0, False)):
        skill.add(forecast, happened)
    assert skill.value == pytest.approx(0.5)


@pytest.mark.parametrize(("forecasts", "value"), [([0.25] * 4, 0.0), ([1, 0, 0, 0], 1.0), ([0, 1, 1, 1], -13 / 3)])
def test_the_frequency_alone_is_no_skill(forecasts, value):
    """1 - 1 / (¼ · ¾) where everything is foretold wrongly."""
    skill = Skill()
    for forecast, happened in zip(forecasts, (True, False, False, False), strict=True):
        skill.add(forecast, happened)
    assert skill.value == pytest.approx(value)


def test_older_forecasts_fade(monkeypatch):
    monkeypatch.setattr(calibration, "MEMORY", 2)
    skill = Skill()
    skill.add(1.0, False)
    skill.add(0.0, True)
    assert (skill.count, skill.squared, skill.happened) == (1.5, 1.5, 1.0)


def test_nothing_is_known_of_what_never_happens(monkeypatch):
    skill = Skill()
    for _ in range(10):
        skill.add(0.1, False)
    assert skill.value is None
    monkeypatch.setattr(calibration, "ENOUGH", 2.0)
    skill.add(0.1, True)
    assert skill.value is None


def test_a_window_is_over_after_t_steps_whatever_happened_in_it():
    made = told((0.1, came(0)), (0.2, came(0)), (0.3, came(0)))
    assert (made.within.count, made.open[0]) == (1, [(0.2, False), (0.3, False)])
    assert made.within.squared == pytest.approx(0.01)
    made.foretell(np.array([0.5]), np.array([0.4]))
    made.see(came(10))
    assert (made.within.count, made.within.happened, made.open[0]) == (2, 1, [(0.3, True), (0.4, True)])
    assert made.within.squared == pytest.approx(0.01 + 0.64)
    made.foretell(np.array([0.5]), np.array([0.6]))
    made.see(came(0))
    assert (made.within.count, made.within.happened, made.open[0]) == (3, 2, [(0.4, True), (0.6, False)])
    assert (made.next.count, made.next.happened, made.next.squared) == (5, 1, 1.25)


def test_the_end_of_an_episode_is_safe_and_a_time_limit_tells_nothing():
    ended = told((0.5, came(0)), (0.5, came(0, terminal=True)))
    assert (ended.within.count, ended.within.happened) == (2, 0)
    cut = told((0.5, came(0)), (0.5, came(0, last=True)), (0.9, came(10, first=True)), (0.5, came(10)))
    # The reset is no step of anybody's, and its cost nobody's doing.
    assert (cut.within.count, cut.open[0], cut.next.count) == (0, [(0.5, True)], 3)
    # Nor does a violation shortly before: with it only what happened would count there.
    assert told((0.5, came(10)), (0.5, came(0, last=True))).within.count == 0


def test_the_lesser_skill_has_to_pass_the_bar():
    """The next step: p = ½ always, so its skill is 0 at f = ½, below that of the window."""
    steps = [(0.0, came(0)), (1.0, came(10))]
    made = told(*steps, look_ahead=1, bar=0.0)
    assert (made.within.value, made.next.value, made.value) == (1.0, 0.0, 0.0)
    assert not made.begun
    assert made.row() == {
        "shield/calibration": 0.0, "shield/calibration_next": 0.0, "shield/calibration_within": 1.0
    }  # fmt: skip
    assert told(*steps, look_ahead=1, bar=-0.01).begun


def test_what_is_saved_comes_back():
    made = told((0.1, came(0)), (1 / 3, came(0)), (0.3, came(10)), (0.7, came(0)))
    made.foretell(np.float32([0.1]), np.float32([0.2]))
    assert Calibration.from_json(json.loads(json.dumps(made.as_json()))) == made


def test_nothing_is_seen_of_what_was_not_foretold():
    made = told((0.1, came(0)))
    made.see(came(10))
    assert (made.next.count, made.open[0]) == (1, [(0.1, False)])


def test_another_episode_tells_nothing():
    """As when a run is resumed and its episodes could not be played again."""
    made = told((0.1, came(0)), (0.2, came(0, first=True)), (0.3, came(10)))
    assert (made.within.count, made.open[0], made.next.count) == (0, [(0.3, True)], 2)


def test_no_skill_is_above_1():
    with pytest.raises(AmbsError, match="a skill of 1.5, and a skill is 1 at most"):
        ShieldConfig(when=1.5)

"""The classical shield beside an environment decides as the classical shield does."""

import numpy as np
import pytest

from ambs import AmbsError
from ambs.envs.catalogue import maker
from ambs.envs.guards import GuardConfig, guarded_maker
from ambs.envs.vector import make_vec
from ambs.shield import ClassicalShield
from tests.envs.guards.worlds import CAUSEWAY

STRICT = GuardConfig("classical", Delta=0.02, look_ahead=10)


@pytest.mark.parametrize("workers", ["inline", 1])
def test_decides_by_the_state_that_the_environment_is_in(workers):
    make = maker("conveyor-figure1", observation="state")
    shield = ClassicalShield(make().unwrapped.mdp(), "P>=0.98 [ G<=10 !acid ]")
    rng, overrides = np.random.default_rng(0), 0
    guarded = guarded_maker(make, STRICT, formula="!acid", name="it")
    with make_vec(guarded, 2, seed=0, workers=workers) as vector:
        batch = vector.reset()
        for _ in range(110):
            proposed = rng.integers(5, size=2)
            verdicts = vector.guard(proposed)
            np.testing.assert_array_equal(verdicts.asked, ~batch.is_last)
            for env in np.flatnonzero(verdicts.asked):
                decision = shield(int(batch.obs[env]), int(proposed[env]))
                assert int(decision.action) == verdicts.actions[env]
                assert bool(decision.overridden) == verdicts.overridden[env]
                assert float(decision.estimate) == verdicts.estimate[env]
            overrides += verdicts.overridden.sum()
            batch = vector.step(verdicts.actions)
    assert 0 < overrides < 220


def test_certainty_may_be_asked_for():
    """On a causeway in acid a step along it may slip: with a tolerance of 0 nothing is left but to stay."""
    make = maker("conveyor", map=CAUSEWAY, slip=0.1)
    env = guarded_maker(make, GuardConfig("classical", Delta=0.0, look_ahead=1), formula="!acid", name="it")()
    env.reset(seed=0)
    assert [env.guard(action).overridden for action in range(5)] == [True, True, True, True, False]
    assert [int(env.guard(action).action) for action in range(5)] == [4] * 5


@pytest.mark.parametrize(
    ("env", "formula", "words"),
    [
        ("minatar-seaquest", "!hit", r"minatar-seaquest has no mdp\(\)"),
        ("conveyor", None, "is not known from its cost"),
        ("conveyor", "!lava", "lava"),
        ("Pendulum-v1", "!fast", "chooses among Discrete"),
    ],
)
def test_what_has_no_exact_shield(env, formula, words):
    with pytest.raises(AmbsError, match=words):
        guarded_maker(maker(env), STRICT, formula=formula, name=env)

"""Decisions made together are those made one by one; only the traces of those that are made are not drawn again."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ambs
from ambs.shield.together import decide_together, judge_together

# A state a hazard: from surely safe to surely not, with doubtful ones between.
HAZARDS = [0.0, 0.002, 0.01, 0.02, 0.03, 0.05, 0.3, 1.0]
ACID = len(HAZARDS)
# That leaves something to its own key.
BACKUP = ambs.TabularPolicy(np.full((ACID + 1, 2), 0.5))
TASK = ambs.TabularPolicy.greedy([0] * (ACID + 1), 2)


def model():
    kernel = np.zeros((ACID + 1, 2, ACID + 1))
    for state, hazard in enumerate(HAZARDS):
        kernel[state, 0, [state, ACID]] = 1 - hazard, hazard
        kernel[state, 1, state] = 1
    kernel[ACID, :, ACID] = 1
    return ambs.TabularModel(kernel, labels={"acid": np.arange(ACID + 1) == ACID})


@pytest.mark.parametrize("envs", [1, 3, 8])
@pytest.mark.parametrize("test", [ambs.Ladder.level("A"), ambs.Fixed(64, 1), ambs.Fixed(128, 2, batch=32)])
def test_they_are_the_same(envs, test):
    shield = ambs.LookaheadShield(model(), TASK, BACKUP, "P>=0.9 [ G<=5 !acid ]", test)
    states, proposed = jnp.arange(envs)[::-1], jnp.zeros(envs, int)
    for seed in range(10):
        keys = jax.random.split(jax.random.key(seed), envs)
        alone = jax.vmap(lambda state, action, key: shield(state, action, key=key))(states, proposed, keys)
        together = decide_together(shield, states, proposed, keys)
        jax.tree.map(np.testing.assert_array_equal, together, alone)


def test_of_those_that_are_not_wanted_nothing_is_drawn():
    shield = ambs.LookaheadShield(model(), TASK, BACKUP, "P>=0.9 [ G<=5 !acid ]", ambs.Ladder.level("A"))
    states, proposed, keys = jnp.arange(8), jnp.zeros(8, int), jax.random.split(jax.random.key(0), 8)
    wanted = jnp.arange(8) % 2 == 0
    some, all_ = (judge_together(shield, states, proposed, keys, which) for which in (wanted, None))
    jax.tree.map(lambda one, other: np.testing.assert_array_equal(one[::2], other[::2]), some, all_)
    assert (some.traces[1::2] == 0).all()

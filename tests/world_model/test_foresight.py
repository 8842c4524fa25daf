"""States drawn without seeing: which row they belong to, what they start from, and where nothing can be foreseen."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.world_model.foresight import foresee
from ambs.world_model.rssm import RSSM, State

ROWS = 8


@pytest.fixture(scope="module")
def rssm():
    return RSSM(actions=2, embedding=4, recurrent=6, units=5, variables=2, classes=3, key=jax.random.key(0))


@pytest.fixture(scope="module")
def seen():
    keys = jax.random.split(jax.random.key(1), 3)
    states = State(
        jax.random.normal(keys[0], (2, ROWS, 6)), jax.nn.one_hot(jax.random.randint(keys[1], (2, ROWS, 2), 0, 3), 3)
    )
    return states, jax.random.normal(keys[2], (2, ROWS, 2))


def test_one_step_ahead_is_what_the_dynamics_say_after_each_row(rssm, seen):
    states, action = seen
    drawn, same = foresee(rssm.imagine, states, action, jnp.zeros((2, ROWS), bool), 1, key=jax.random.key(2))
    before = jax.tree.map(lambda each: each[:, :-1], states)
    np.testing.assert_allclose(drawn.h, rssm.recur(before, action[:, 1:]), atol=1e-6)
    assert same.shape == (2, ROWS - 1)
    assert same.all()


def test_windows_start_from_what_was_seen_and_go_on_from_what_was_drawn(rssm, seen):
    states, action = seen
    drawn, _ = foresee(rssm.imagine, states, action, jnp.zeros((2, ROWS), bool), 3, key=jax.random.key(2))
    # Rows 1 to 3 from row 0, 4 to 6 from row 3; row 7 fills no window.
    assert drawn.h.shape[1] == 6
    for row, source in ((1, states.h[:, 0]), (4, states.h[:, 3])):
        before = State(source, states.z[:, row - 1])
        np.testing.assert_allclose(drawn.h[:, row - 1], rssm.recur(before, action[:, row]), atol=1e-6)
    for row in (2, 3, 5, 6):
        before = jax.tree.map(lambda each, row=row: each[:, row - 2], drawn)
        np.testing.assert_allclose(drawn.h[:, row - 1], rssm.recur(before, action[:, row]), atol=1e-6)


def test_nothing_is_foreseen_of_another_episode(rssm, seen):
    states, action = seen
    first = np.zeros((2, ROWS), bool)
    first[0, 2] = True
    _, same = foresee(rssm.imagine, states, action, jnp.asarray(first), 3, key=jax.random.key(2))
    assert same[0].tolist() == [True, False, False, True, True, True]
    assert same[1].all()

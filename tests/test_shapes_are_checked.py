"""That annotations are checked while the tests run, also in packages that are imported later than the first.

Every one of these wrong shapes would otherwise go through in silence, by broadcasting or because nobody looks.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxtyping import TypeCheckError


def in_world_model():
    from ambs.world_model.cells import pick

    pick(jnp.array([True, False, False]), jnp.zeros((2, 2, 3)), jnp.zeros((2, 2, 1)))


def in_behaviour():
    from ambs.behaviour.returns import lambda_returns

    lambda_returns(jnp.zeros((4, 3)), jnp.ones((4, 1)), jnp.zeros((4, 3)), 0.95)


def in_agents():
    from ambs.agents.player import Memory
    from ambs.world_model.board import Position

    cells = jnp.zeros((2, 5, 5, 3))
    state = Position(jnp.zeros((2, 4)), jnp.zeros((2, 6)), cells, jnp.zeros((2, 5, 5)), cells)
    Memory(state, jnp.zeros(2))


def in_a_state():
    from ambs.world_model.board import Position

    cells = jnp.zeros((2, 5, 5, 3))
    Position(jnp.zeros((2, 4)), jnp.zeros((1, 6)), cells, jnp.zeros((2, 5, 5)), cells)


def in_shield():
    from ambs.shield.criteria import CostCriterion
    from ambs.shield.imagine import Trajectory
    from ambs.types import Prediction

    rolled = Trajectory(jnp.zeros(2), jnp.zeros(2), Prediction(jnp.zeros(2), jnp.ones(2), {}))
    CostCriterion(horizon=3, imagined=2, tail=lambda state: jnp.zeros(4)).cost(rolled)


def in_tabular():
    from ambs.tabular.planning import safest_actions

    safest_actions(np.zeros((3, 2, 2)))


def in_value_agents():
    from ambs.value_agents.distributions import project

    project(jnp.ones(3) / 3, jnp.arange(3.0), jnp.zeros(1), jnp.ones(()))


@pytest.mark.parametrize(
    "wrong", [in_world_model, in_behaviour, in_agents, in_a_state, in_shield, in_tabular, in_value_agents]
)
def test_a_wrong_shape_is_an_error(wrong):
    with pytest.raises(TypeCheckError):
        wrong()

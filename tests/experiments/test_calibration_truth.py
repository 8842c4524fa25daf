"""Rollouts of the world from a visited state, in a world of two cells whose probabilities are known."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from ambs.behaviour.actor import Actor
from ambs.world_model.model import WorldModel
from ambs.world_model.parts import parts_of
from ambs.world_model.sizes import SIZES
from experiments.calibration.truth import World, compared, futures

STEPS, COUNT = 3, 4000


def test_the_proposed_action_comes_first_and_then_the_policy():
    """Cell 1 is a violation, and one is back in 0 after it. Action 0 stays in 0, action 1 with probability 1/2, and the
    policy takes either: a step of it is safe with 3/4. So after action 0 the first violation is at step 2 with 1/4 and
    at step 3 with 3/16; after action 1 it is at step 1 with 1/2, then 1/8 and 3/32."""
    size, model_key, actor_key = SIZES["debug"], jax.random.key(0), jax.random.key(1)
    model = eqx.filter_jit(WorldModel)(parts_of(spaces.Box(0, 1, (2,), np.float32)), 2, size, key=model_key)
    state = model.rssm.initial((2,))
    actor = Actor(state.features.shape[-1], 2, size, discrete=True, key=actor_key)
    actor = eqx.tree_at(lambda me: (me.net.out.weight, me.net.out.bias), actor, replace_fn=jnp.zeros_like)
    seen = model.embed(model.prepare({"": jnp.eye(2)}))
    world = World(
        jnp.array([[0, 1], [0, 0]]), jnp.array([[1.0, 0.0], [0.5, 0.5]]), jnp.array([False, True]), seen
    )  # fmt: skip
    found = futures(world, model, actor, state, jnp.zeros(2, int), jnp.eye(2), STEPS, COUNT, key=jax.random.key(2))
    shares = [np.bincount(row, minlength=STEPS + 2)[1:] / COUNT for row in np.asarray(found.violation)]
    # Four standard errors.
    np.testing.assert_allclose(shares, [[0, 1 / 4, 3 / 16, 9 / 16], [1 / 2, 1 / 8, 3 / 32, 9 / 32]], atol=0.032)
    acted = np.asarray(found.acted)
    assert acted[1].sum() == 0
    np.testing.assert_allclose(acted[0] / acted[0].sum(), [0.5, 0.5], rtol=1e-4)


def test_how_far_a_chain_is_from_rollouts_is_told_with_what_chance_does():
    found = compared(np.array([0.5, 1.0]), np.array([0.4, 1.0]), 24)
    assert found["root_mean_square_difference"] == pytest.approx(0.1 / np.sqrt(2))
    assert found["of_that_by_chance"] == pytest.approx(0.1 / np.sqrt(2))
    assert (found["greatest_difference"], found["within_two_standard_errors"]) == (pytest.approx(0.1), 1.0)
    assert compared(np.array([0.9]), np.array([1.0]), 24)["within_two_standard_errors"] == 0.0

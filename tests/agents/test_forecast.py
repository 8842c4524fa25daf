"""Forecasts of violations, by a model whose heads say the same of every state."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.agents.forecast import forecast
from ambs.agents.learner import Learner
from ambs.agents.player import ActionCodec, nothing_yet
from ambs.runs.dreamer.config import cpu_learner
from ambs.world_model.parts import parts_of
from tests.agents.probes import Delayed

ENVS = 64
_create = eqx.filter_jit(Learner.create)


def saying(head, probability):
    """A head that says so of every state."""
    logit = jnp.log(probability) - jnp.log1p(-probability)
    return eqx.tree_at(
        lambda me: (me.out.weight, me.out.bias), head,
        (jnp.zeros_like(head.out.weight), jnp.full_like(head.out.bias, logit)),
    )  # fmt: skip


@pytest.fixture(scope="module")
def learner():
    env = Delayed()
    codec = ActionCodec(env.action_space)
    return _create(
        parts_of(env.observation_space), codec.size, cpu_learner("debug"), discrete=True, key=jax.random.key(0)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("goes_on", "within"),
    [
        # Three times 3 in 10.
        (1 - 1e-6, 1 - 0.7**3),
        # Every episode ends with the first step.
        (1e-6, 0.3),
        # An end and a violation are drawn together: half of the steps are the last, and three tenths are violations.
        (0.5, 0.3 + 0.5 * 0.3 + 0.5**2 * 0.3),
    ],
)
def test_what_follows_from_the_heads(learner, goes_on, within):
    """2,048 traces: the standard error of their share is about 0.01."""
    model = learner.model
    heads = saying(model.safety, jnp.asarray(0.7)), saying(model.continuation, jnp.asarray(goes_on))
    learner = eqx.tree_at(lambda me: (me.model.safety, me.model.continuation), learner, heads)
    memory = nothing_yet(learner.model, ENVS, learner.task.actor.net.out.bias.size)
    first, share = forecast(learner, memory, 3, key=jax.random.key(1))
    np.testing.assert_allclose(first, np.full(ENVS, 0.3), rtol=1e-4)
    assert float(share.mean()) == pytest.approx(within, abs=0.04)

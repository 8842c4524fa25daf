"""The heads say how likely a thing is that cannot be seen, as exactly as it is known for a small Markov chain."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from ambs.world_model.model import Weights, WorldModel
from ambs.world_model.sizes import size
from tests.world_model.chain import COST, COSTLY, OVER, PARTS, sequences


@pytest.fixture(scope="module")
def predicted():
    """Head → what it says of each of the three states, in the mean over a fresh batch, after some hundred updates."""
    rng, model = np.random.default_rng(0), WorldModel(PARTS, 2, size("debug"), key=jax.random.key(0))
    optimiser = optax.adam(optax.linear_schedule(5e-3, 5e-4, 500))

    @eqx.filter_jit
    def learn(model, state, batch, key):
        def loss(model):
            losses, _ = model.losses(batch, model.rssm.initial((len(batch.cost),)), key=key)
            return Weights().total(losses)

        changes, state = optimiser.update(eqx.filter_grad(loss)(model), state)
        return eqx.apply_updates(model, changes), state

    @eqx.filter_jit
    def heads(model, batch, key):
        states, _ = model.follow(batch, model.prepare(batch.obs), model.rssm.initial((len(batch.cost),)), key=key)
        features = states.features
        return {
            "cost": model.predict_cost(features),
            "continue": model.predict_continue(features),
            "safe": model.predict_safe(features),
        }

    state = optimiser.init(eqx.filter(model, eqx.is_inexact_array))
    for key in jax.random.split(jax.random.key(1), 500):
        model, state = learn(model, state, sequences(rng), key)
    batch = sequences(rng, batch=64)
    seen = np.asarray(jnp.argmax(batch.obs[""], -1))
    said = heads(model, batch, jax.random.key(2))
    return {name: [float(np.asarray(value)[seen == i].mean()) for i in range(3)] for name, value in said.items()}


def test_continuation_is_calibrated(predicted):
    np.testing.assert_allclose(predicted["continue"], 1 - OVER, atol=0.06)


def test_safety_is_calibrated(predicted):
    np.testing.assert_allclose(predicted["safe"], 1 - COSTLY, atol=0.06)


def test_cost_is_the_mean_in_symlog_space(predicted):
    # As the first version of DreamerV3 has it: symexp(p ln 11) = 11^p - 1. A cost of 10 that comes up with probability
    # .3 is expected to be 1.05 and not 3; what is certain is told exactly.
    np.testing.assert_allclose(predicted["cost"], (1 + COST) ** COSTLY - 1, rtol=0.25, atol=0.15)
    assert predicted["cost"][2] == pytest.approx(COST, rel=0.1)

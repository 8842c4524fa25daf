"""Networks as vectors: nothing is lost on the way there and back, and checkpoints have a name for each weight."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from ambs.agents.optimiser import start
from ambs.runs.storage.trees import named
from ambs.value_agents import networks
from ambs.value_agents.config import ValueConfig
from ambs.value_agents.form import Form
from ambs.value_agents.learner import ValueLearner
from ambs.world_model.parts import parts_of

PART = parts_of(spaces.Box(-1, 1, (3,), np.float32))[0]
KEY = jax.random.key(0)


@pytest.mark.parametrize(
    "config", [ValueConfig(units=4), ValueConfig("iqn", units=4), ValueConfig(without=("dueling",))]
)
def test_there_and_back(config):
    network = networks.make(PART, 2, dataclasses.replace(config, stack=1), key=KEY)
    form = Form.of(network)
    weights = form.pack(network)
    assert weights.shape == (sum(leaf.size for leaf in jax.tree.leaves(network)),)
    assert eqx.tree_equal(form.unpack(weights), network)
    assert hash(form) == hash(Form.of(form.unpack(weights))), "or every gradient step is compiled anew"


def test_a_learner_taken_apart_has_an_optimiser_of_the_network_and_is_put_together_again():
    config = ValueConfig(units=4, stack=1)
    learner = ValueLearner.create(PART, 2, config, key=KEY)
    rows = iter(range(1, 100))
    learner = jax.tree.map(lambda leaf: leaf + jnp.asarray(next(rows), leaf.dtype), learner)
    apart = learner.apart()
    assert eqx.tree_equal(learner.together(apart), learner)
    assert eqx.tree_equal(apart.online, learner.online)
    usual = start(config.optimiser, apart.online)
    assert {name: leaf.shape for name, leaf in named(apart.optimiser).items()} == {
        name: leaf.shape for name, leaf in named(usual).items()
    }

"""The learner learns: on one batch again and again, every loss of the world model that can fall does."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.agents.learner import Learner, learn
from ambs.agents.optimiser import OptimiserConfig
from ambs.runs.dreamer.config import cpu_learner
from ambs.world_model.model import Sequences
from ambs.world_model.parts import parts_of
from tests.agents.probes import Delayed

UPDATES = 150


@pytest.fixture(scope="module")
def trained():
    """Some updates on sequences of a probe with random actions."""
    env, rng = Delayed(), np.random.default_rng(0)
    rows, observation, first = [], env.reset(seed=0)[0], True
    action, reward, over = 0, 0.0, False
    for _ in range(8 * 12):
        rows.append((observation, np.eye(2, dtype=np.float32)[action], reward, first, over))
        if over:
            observation, first, reward, over = env.reset()[0], True, 0.0, False
        else:
            action = int(rng.integers(2))
            observation, reward, over, _, _ = env.step(action)
            first = False
    seen, actions, rewards, firsts, ends = (jnp.asarray(np.stack(column)) for column in zip(*rows, strict=True))

    def cut(column):
        return column.reshape(8, 12, *column.shape[1:])

    rewards = cut(rewards.astype(jnp.float32))
    batch = Sequences({"": cut(seen)}, cut(actions), rewards, 10 * rewards, cut(firsts), cut(ends))
    config = dataclasses.replace(cpu_learner("debug"), starts=32, world_model=OptimiserConfig(3e-3, 1e-8, 1000.0))
    learner = Learner.create(parts_of(env.observation_space), 2, config, discrete=True, key=jax.random.key(0))
    step = eqx.filter_jit(lambda learner, key: learn(learner, batch, config, key=key))
    history = []
    for key in jax.random.split(jax.random.key(1), UPDATES):
        learner, metrics = step(learner, key)
        history.append({name: float(value) for name, value in metrics.items()})
    return learner, history


@pytest.mark.parametrize("name", ["observation", "reward", "continue", "cost", "safety"])
def test_losses_fall(trained, name):
    _, history = trained
    assert history[-1][f"loss/{name}"] < 0.8 * history[0][f"loss/{name}"]


def test_nothing_breaks_and_everything_moves(trained):
    learner, history = trained
    assert int(learner.updates) == UPDATES
    assert all(np.isfinite(value) for row in history for value in row.values())
    assert history[-1]["task/critic_loss"] != history[0]["task/critic_loss"]

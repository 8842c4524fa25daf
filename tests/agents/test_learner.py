"""The learner learns: on one batch again and again, every loss of the world model that can fall does."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.agents.learner import Learner, learn
from ambs.agents.optimiser import OptimiserConfig
from ambs.agents.player import ActionCodec
from ambs.runs.dreamer.config import cpu_learner
from ambs.world_model.model import Sequences
from ambs.world_model.parts import parts_of
from tests.agents.probes import Aimed, Delayed

UPDATES = 150


def sequences(env, codec):
    """8 sequences of 12 steps of a probe, with random actions."""
    rng, rows = np.random.default_rng(0), []
    observation, first, reward, over = env.reset(seed=0)[0], True, 0.0, False
    action = np.zeros((1, codec.size), np.float32)
    for _ in range(8 * 12):
        rows.append((observation, action[0], np.float32(reward), first, over))
        if over:
            observation, first, reward, over = env.reset()[0], True, 0.0, False
        else:
            action, first = codec.random(rng, 1), False
            observation, reward, over, _, _ = env.step(codec.decode(action)[0])

    columns = (jnp.asarray(np.stack(column)) for column in zip(*rows, strict=True))
    seen, actions, rewards, firsts, ends = (column.reshape(8, 12, *column.shape[1:]) for column in columns)
    return Sequences({"": seen}, actions, rewards, 10 * jnp.maximum(rewards, 0.0), firsts, ends)


def begin(probe, **options):
    """A new learner, a batch, and the compiled step."""
    env = probe()
    codec, fast = ActionCodec(env.action_space), OptimiserConfig(3e-3, 1e-8, 1000.0)
    config = dataclasses.replace(
        cpu_learner("debug"), starts=32, world_model=fast, actor=fast, critic=fast, **options
    )  # fmt: skip
    create = eqx.filter_jit(Learner.create)
    learner = create(
        parts_of(env.observation_space), codec.size, config, discrete=codec.discrete, key=jax.random.key(0)
    )  # fmt: skip
    batch = sequences(env, codec)
    return learner, eqx.filter_jit(lambda learner, key: learn(learner, batch, config, key=key))


@pytest.fixture(scope="module")
def trained():
    """Before and after some updates on one batch, and what was reported."""
    first, step = begin(Delayed)
    learner, history = first, []
    for key in jax.random.split(jax.random.key(1), UPDATES):
        learner, metrics = step(learner, key)
        history.append({name: float(value) for name, value in metrics.items()})
    return first, learner, history


@pytest.mark.parametrize("name", ["observation", "reward", "continue", "cost", "safety"])
def test_losses_fall(trained, name):
    _, _, history = trained
    assert history[-1][f"loss/{name}"] < 0.8 * history[0][f"loss/{name}"]


def test_nothing_breaks_and_everything_moves(trained):
    first, learner, history = trained
    assert int(learner.updates) == UPDATES
    assert all(np.isfinite(value) for row in history for value in row.values())
    for part in (lambda me: me.model, lambda me: me.task.actor, lambda me: me.task.critic, lambda me: me.task.slow):
        before, after = (jax.tree_util.tree_leaves_with_path(part(one)) for one in (first, learner))
        for (path, old), (_, new) in zip(before, after, strict=True):
            assert not np.array_equal(old, new), jax.tree_util.keystr(path)


def test_the_critic_learns_what_is_imagined(trained):
    """The weight of what is imagined grows while the model learns that episodes go on: only learning lowers this."""
    _, _, history = trained
    assert history[-1]["task/critic_loss"] < 0.5 * history[0]["task/critic_loss"]


@pytest.mark.parametrize("probe", [Delayed, Aimed])
def test_half_precision_computes_the_same_and_keeps_whole_weights(probe):
    metrics = {}
    for precision in ("float32", "bfloat16"):
        learner, step = begin(probe, precision=precision)
        learner, metrics[precision] = step(learner, jax.random.key(1))
        assert learner.model.rssm.dtype == precision
        assert {leaf.dtype.name for leaf in jax.tree.leaves(learner) if eqx.is_inexact_array(leaf)} == {"float32"}
    whole, half = metrics["float32"], metrics["bfloat16"]
    for name in whole:
        assert np.isfinite(half[name]), name
        if "loss" in name:
            assert float(half[name]) == pytest.approx(float(whole[name]), rel=0.1, abs=0.01), name
    # In other numbers, or the comparison would be of float32 with itself.
    assert float(half["loss/observation"]) != float(whole["loss/observation"])

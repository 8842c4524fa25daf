"""Vectors known by where their ones stand: whatever is made of them is what is made of the same vectors written out."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.agents import shielding
from ambs.agents.learner import Learner, LearnerConfig
from ambs.agents.safety import SafetyConfig
from ambs.behaviour import dreaming
from ambs.behaviour.actor_critic import BehaviourConfig
from ambs.world_model.parts import Part
from ambs.world_model.rssm import RSSM, Drawn, State, without_gradient
from ambs.world_model.sparse import Sparse

CLOSE = {"rtol": 1e-4, "atol": 1e-6}


def close(a, b):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, **CLOSE), a, b)


@pytest.mark.parametrize("start", [0, 6])
def test_a_product_and_its_gradients_are_those_of_the_vector_written_out(start):
    """Two variables of three classes beside two numbers; the first two vectors have a row in common."""
    keys = jax.random.split(jax.random.key(0), 3)
    weight, dense = jax.random.normal(keys[0], (8, 4)), jax.random.normal(keys[1], (3, 2))
    index = jnp.array([[0, 2], [0, 1], [2, 2]])
    rows = index + jnp.array([[0, 3]]) + (2 if start == 0 else 0)
    ones = jax.nn.one_hot(index, 3).reshape(3, 6)
    along = jax.random.normal(keys[2], (3, 4))

    def written_out(weight, dense):
        return jnp.concatenate([dense, ones] if start == 0 else [ones, dense], axis=-1) @ weight

    def by_rows(weight, dense):
        return Sparse(dense, rows, start) @ weight

    close(by_rows(weight, dense), written_out(weight, dense))
    of = [
        jax.grad(lambda *a, f=f: (along * f(*a)).sum(), argnums=(0, 1))(weight, dense) for f in (by_rows, written_out)
    ]
    close(*of)
    one_by_one = jax.vmap(lambda dense, rows: Sparse(dense, rows, start) @ weight)(dense, rows)
    close(one_by_one, written_out(weight, dense))


def test_imagination_draws_the_same_by_index():
    rssm = RSSM(actions=2, embedding=3, recurrent=6, units=5, variables=4, classes=3, key=jax.random.key(0))
    action = jax.random.normal(jax.random.key(1), (16, 2))
    step = eqx.filter_jit(lambda state, key: rssm.imagine(state, action, key=key))
    written_out, known = rssm.initial((16,)), without_gradient(rssm.initial((16,)))
    for key in jax.random.split(jax.random.key(2), 4):
        written_out, known = step(written_out, key), step(known, key)
        assert isinstance(written_out, State)
        assert isinstance(known, Drawn)
        close(known.h, written_out.h)
        np.testing.assert_array_equal(known.index, written_out.z.argmax(axis=-1))
    assert len(np.unique(known.index)) == 3


@pytest.fixture(scope="module")
def me():
    config = LearnerConfig(size="debug", behaviour=BehaviourConfig(horizon=3), safety=SafetyConfig(look_ahead=5))
    create = eqx.filter_jit(lambda key: Learner.create((Part("", "binary", (3,)),), 2, config, discrete=True, key=key))
    return create(jax.random.key(0))


def test_a_dream_teaches_the_same_by_index(me, monkeypatch):
    # A critic that starts out at 0 everywhere would have gradients of its last layer alone.
    output = jax.random.normal(jax.random.key(1), me.task.critic.out.weight.shape)
    task = eqx.tree_at(lambda task: task.critic.out.weight, me.task, 0.1 * output)
    starts, alive = me.model.rssm.initial((6,)), jnp.ones(6, bool)

    def taught():
        def dream(actor):
            return dreaming.roll_out(
                me.model, actor, starts, alive, 3, me.model.predict_continue, key=jax.random.key(2)
            )

        return eqx.filter_jit(lambda: dreaming.gradients(task, dream))()

    known = taught()
    monkeypatch.setattr(dreaming, "without_gradient", lambda state: state)
    written_out = taught()
    assert isinstance(known.imagined.features, Sparse)
    assert isinstance(written_out.imagined.features, jax.Array)
    close((known.actor, known.critic, known.metrics), (written_out.actor, written_out.critic, written_out.metrics))
    assert float(jnp.abs(known.critic.layers[0].linear.weight[-16:]).max()) > 1e-4


def test_a_shield_decides_the_same_by_index_and_notices_a_model_that_is_lost(me, monkeypatch):
    state, proposed = me.model.rssm.initial((2,)), jnp.eye(2)
    config = shielding.ShieldConfig(criterion="sound")

    def deciding():
        return eqx.filter_jit(lambda me: shielding.decide(me, config, 3, 5, state, proposed, key=jax.random.key(1)))

    decide = deciding()
    known = decide(me)
    lost = eqx.tree_at(lambda me: me.model.rssm.prior_out.bias, me, replace_fn=lambda bias: bias.at[0].set(jnp.nan))
    broken = decide(lost)
    assert np.isnan(broken.estimate).all()
    assert np.asarray(broken.overridden).all()
    monkeypatch.setattr(shielding, "without_gradient", lambda state: state)
    close(known._asdict(), deciding()(me)._asdict())
    assert 0 < float(known.estimate[0]) < 1

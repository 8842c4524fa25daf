"""Linear, LayerNorm, and one step of the GRU, by hand."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.world_model.layers import Dense, Linear, Norm
from ambs.world_model.rssm import GRU


def test_norm_by_hand():
    """[1, 3] has mean 2 and variance 1: ∓1 / √1.001 = ∓0.99950; then times [2, 10] plus [1, 0]."""
    norm = eqx.tree_at(lambda n: (n.scale, n.offset), Norm(2), (jnp.array([2.0, 10]), jnp.array([1.0, 0])))
    np.testing.assert_allclose(norm(jnp.array([[1.0, 3.0]])), [[1 - 2 * 0.9995004, 9.995004]], rtol=1e-5)


def test_norm_is_computed_in_float32():
    """In bfloat16 nothing lies between 1000 and 1004: their mean, 1002, has to be taken in more bits."""
    x = jnp.array([1000.0, 1004.0, 1000.0, 1004.0], jnp.bfloat16)
    normal = Norm(4)(x)
    assert normal.dtype == jnp.bfloat16
    np.testing.assert_allclose(normal.astype(jnp.float32), [-1, 1, -1, 1], atol=0.01)


def test_linear_by_hand():
    linear = eqx.tree_at(
        lambda me: (me.weight, me.bias),
        Linear(2, 3, key=jax.random.key(0)),
        (jnp.array([[1.0, 2, 3], [4, 5, 6]]), jnp.array([0.1, 0.2, 0.3])),
    )
    np.testing.assert_allclose(linear(jnp.array([[1.0, 10.0]])), [[41.1, 52.2, 63.3]], rtol=1e-6)


def test_weights_have_the_variance_of_their_mean_fan():
    """Fans of 300 and 100: the deviation is √(1/200) = 0.0707; scale 0 starts neutral."""
    weight = Linear(300, 100, key=jax.random.key(0)).weight
    assert float(weight.std()) == pytest.approx((1 / 200) ** 0.5, rel=0.02)
    assert not jnp.any(Linear(3, 2, scale=0.0, key=jax.random.key(0)).weight)


def test_dense_is_linear_norm_silu():
    """x W = [1, -1], normed ±1/√1.001 = ±0.99950; then 0.99950 σ(0.99950) and -0.99950 σ(-0.99950)."""
    dense = eqx.tree_at(lambda me: me.linear.weight, Dense(1, 2, key=jax.random.key(0)), jnp.array([[1.0, -1.0]]))
    np.testing.assert_allclose(dense(jnp.array([1.0])), [0.73060, -0.26890], atol=1e-4)
    assert dense.linear.bias is None


def gru(from_input, from_state):
    return eqx.tree_at(
        lambda me: (me.from_input.weight, me.from_state.weight),
        GRU(1, 1, key=jax.random.key(0)),
        (jnp.array([from_input]), jnp.array([from_state])),
    )


def test_one_gru_step_by_hand():
    """x = 1 and h = 2 give the gates [0, 1, -1]: variance 2/3, so normed by 1/√0.66767 = 1.22383.

    reset      σ(0) = 0.5
    candidate  tanh(0.5 · 1.22383) = tanh(0.61191) = 0.54547
    update     σ(-1.22383 - 1) = 0.09763
    h'         0.09763 · 0.54547 + 0.90237 · 2 = 1.85799
    """
    cell = gru([0.0, 0.5, 0.0], [0.0, 0.25, -0.5])
    np.testing.assert_allclose(cell(jnp.array([1.0]), jnp.array([2.0])), [1.85799], atol=2e-5)


def test_the_reset_gate_hides_the_candidate():
    """Gates [-1, 1, 0]: σ(-1.22383) = 0.22726, tanh(0.22726 · 1.22383) = 0.27117, σ(-1) = 0.26894; h' from h = 0."""
    cell = gru([-1.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(cell(jnp.array([1.0]), jnp.array([0.0])), [0.26894 * 0.27117], atol=2e-5)


def test_gates_start_out_remembering():
    """With idle gates a step keeps 1 - σ(-1) = 0.73106 of the state."""
    cell = gru([0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    np.testing.assert_allclose(cell(jnp.array([5.0]), jnp.array([1.0])), [0.73106], atol=1e-5)

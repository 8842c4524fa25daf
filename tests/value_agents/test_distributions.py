"""The projection of C51 and the quantile Huber loss, with numbers worked out by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.value_agents.distributions import cross_entropy, entropy, project, quantile_huber, support

ATOMS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])


def projected(probabilities, reward, discount):
    arrays = (np.array(probabilities, np.float32), ATOMS.astype(np.float32), np.float32(reward), np.float32(discount))
    return np.asarray(project(*map(jnp.asarray, arrays)))


def test_the_atoms():
    np.testing.assert_allclose(support(5, 2.0), ATOMS)


@pytest.mark.parametrize(
    ("probabilities", "reward", "discount", "expected"),
    [
        # Nothing moves.
        ([0.1, 0.2, 0.3, 0.4, 0.0], 0.0, 1.0, [0.1, 0.2, 0.3, 0.4, 0.0]),
        # By one atom; what would leave stays at the end.
        ([0.0, 0.0, 0.5, 0.25, 0.25], 1.0, 1.0, [0.0, 0.0, 0.0, 0.5, 0.5]),
        # 0 goes to 0.25: three quarters to the atom 0, one quarter to 1.
        ([0.0, 0.0, 1.0, 0.0, 0.0], 0.25, 0.9, [0.0, 0.0, 0.75, 0.25, 0.0]),
        # After a termination only the reward is left.
        ([0.2, 0.2, 0.2, 0.2, 0.2], -1.5, 0.0, [0.5, 0.5, 0.0, 0.0, 0.0]),
        # -2 → -0.5 and 2 → 1.5, halves each.
        ([0.5, 0.0, 0.0, 0.0, 0.5], 0.5, 0.5, [0.0, 0.25, 0.25, 0.25, 0.25]),
    ],
)
def test_the_projection(probabilities, reward, discount, expected):
    np.testing.assert_allclose(projected(probabilities, reward, discount), expected, atol=1e-6)


def test_the_projection_keeps_the_mean_where_nothing_is_cut_off():
    probabilities = np.random.default_rng(0).dirichlet(np.ones(5))
    moved = projected(probabilities, 0.3, 0.8)
    assert moved.sum() == pytest.approx(1, abs=1e-6)
    assert moved @ ATOMS == pytest.approx(0.3 + 0.8 * probabilities @ ATOMS, abs=1e-5)


def test_cross_entropy_and_entropy():
    target, logits = jnp.array([0.5, 0.5, 0.0]), jnp.log(jnp.array([0.25, 0.5, 0.25]))
    assert float(cross_entropy(target, logits)) == pytest.approx(0.5 * np.log(4) + 0.5 * np.log(2), abs=1e-6)
    assert float(entropy(target)) == pytest.approx(np.log(2), abs=1e-6)


def huber(values, taus, targets, kappa=1.0):
    return float(quantile_huber(jnp.array(values), jnp.array(taus), jnp.array(targets), kappa))


def test_the_quantile_huber_loss():
    # δ = 0.5: inside κ, ½ δ² = 0.125, weight τ = 0.2.
    assert huber([0.0], [0.2], [0.5]) == pytest.approx(0.2 * 0.125)
    # δ = -3: outside, 3 - ½ = 2.5, weight |0.2 - 1|.
    assert huber([3.0], [0.2], [0.0]) == pytest.approx(0.8 * 2.5)
    # A sum over values, a mean over targets: 0.2 (0.125 + 1.5) / 2 + 0.6 (0.5 ...).
    first = (0.2 * 0.125 + 0.2 * 1.5) / 2
    second = (0.4 * 0.125 + 0.6 * 0.5) / 2
    assert huber([0.0, 1.0], [0.2, 0.6], [0.5, 2.0]) == pytest.approx(first + second)
    # κ = 2: δ = 1 is inside, ½ / 2.
    assert huber([0.0], [0.5], [1.0], 2.0) == pytest.approx(0.5 * 0.5 / 2)


def test_its_least_is_at_the_quantiles():
    """Of the numbers 0 to 99, with a small κ, a quarter lies below the value of τ = ¼."""
    targets, taus = jnp.arange(100.0), jnp.array([0.25, 0.9])
    gradient = jax.jit(jax.grad(lambda values: quantile_huber(values, taus, targets, 0.01)))
    values = jnp.array([50.0, 50.0])
    for _ in range(300):
        values = values - 5.0 * gradient(values)
    np.testing.assert_allclose(values, [24.5, 89.5], atol=1.0)

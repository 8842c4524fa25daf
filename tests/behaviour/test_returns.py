"""λ-returns worked out by hand, and the scale of returns."""

import jax.numpy as jnp
import numpy as np
import pytest

from ambs.behaviour.returns import ReturnScale, lambda_returns


def test_three_steps_by_hand():
    """R_2 = 3 + .5·10 = 8;  R_1 = 2 + .5 (.2·20 + .8·8) = 7.2;  R_0 = 1 + .5 (.2·30 + .8·7.2) = 6.88."""
    returns = lambda_returns(jnp.array([1.0, 2, 3]), jnp.full(3, 0.5), jnp.array([30.0, 20, 10]), 0.8)
    np.testing.assert_allclose(returns, [6.88, 7.2, 8.0], rtol=1e-6)


def test_the_ends_of_lambda():
    reward, discount, value = jnp.array([1.0, 2, 3]), jnp.full(3, 0.9), jnp.array([5.0, 6, 7])
    np.testing.assert_allclose(lambda_returns(reward, discount, value, 0.0), reward + 0.9 * value, rtol=1e-6)
    monte_carlo = 1 + 0.9 * (2 + 0.9 * (3 + 0.9 * 7))
    assert float(lambda_returns(reward, discount, value, 1.0)[0]) == pytest.approx(monte_carlo)


def test_nothing_flows_back_over_an_end():
    returns = lambda_returns(jnp.array([1.0, 100.0]), jnp.array([0.0, 0.9]), jnp.array([50.0, 50.0]), 0.95)
    assert float(returns[0]) == 1.0


def test_small_returns_are_not_blown_up_and_large_ones_shrink():
    returns = jnp.linspace(0, 100, 101)
    scale = ReturnScale.start()
    assert float(scale()) == 1.0
    for _ in range(2000):
        scale = scale.update(returns)
    assert float(scale()) == pytest.approx(90, rel=0.01)
    assert float(ReturnScale.start().update(0.01 * returns)()) == 1.0

"""The optimiser's options: what they do to a step, and what they may be."""

import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.agents.optimiser import OptimiserConfig, start, update


def after_a_large_one(second_decay):
    """How long a step is after one large gradient and then small ones; Adam measures them by the large one."""
    config = OptimiserConfig(0.1, 1e-8, 1000.0, second_decay=second_decay)
    weight = jnp.zeros(1)
    state = start(config, weight)
    for gradient in (100.0, *[1.0] * 50):
        before = weight
        weight, state, _ = update(config, weight, jnp.array([gradient]), state)
    return float(np.abs(weight - before)[0])


def test_a_short_memory_forgets_large_gradients():
    assert after_a_large_one(0.9) > 3 * after_a_large_one(0.999)


@pytest.mark.parametrize(("clip", "second"), [(1.0, 1.0), (1000.0, 30.0)])
def test_gradients_are_clipped_by_their_norm(clip, second):
    """The first step of Adam, worked by hand."""
    config = OptimiserConfig(0.1, 1e3, clip, second_decay=0.0)
    weight = jnp.zeros(2)
    moved, _, norm = update(config, weight, jnp.array([18.0, 24.0]), start(config, weight))
    assert float(norm) == 30.0
    # Epsilon is so large that Adam divides by it alone, but for the gradient's own few units.
    np.testing.assert_allclose(moved, -0.1 * np.array([0.6, 0.8]) * second / 1e3, rtol=0.03)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"clip": 0.0}, "norm of a gradient is 0"),
        ({"clip": float("nan")}, "norm of a gradient is nan"),
        ({"second_decay": 1.0}, "second_decay is 1"),
    ],
)
def test_what_cannot_be_is_refused(wrong, words):
    with pytest.raises(AmbsError, match=words):
        OptimiserConfig(**{"learning_rate": 0.1, "epsilon": 1e-8, "clip": 1.0, **wrong})

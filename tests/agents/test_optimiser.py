"""The learning rate as it falls: worked out by hand, and what Adam makes of it."""

import jax.numpy as jnp
import numpy as np
import pytest

from ambs import AmbsError
from ambs.agents.optimiser import OptimiserConfig, start, update


def test_half_of_it_after_as_many_steps_as_told():
    config = OptimiserConfig(0.4, 1e-8, 1000.0, half_after=100)
    assert [float(config.rate(count)) for count in (0, 100, 500)] == pytest.approx([0.4, 0.2, 0.1])


@pytest.mark.parametrize("half_after", [None, 3])
def test_steps_are_as_long_as_the_rate_says(half_after):
    """Of a gradient that is always the same, Adam's step is the learning rate."""
    config = OptimiserConfig(0.1, 1e-8, 1000.0, half_after=half_after)
    weight = jnp.zeros(2)
    state, lengths = start(config, weight), []
    for _ in range(6):
        before = weight
        weight, state, _ = update(config, weight, jnp.array([1.0, -1.0]), state)
        lengths.append(np.abs(weight - before))
    expected = [0.1 if half_after is None else 0.1 / np.sqrt(1 + count) for count in range(6)]
    np.testing.assert_allclose(lengths, np.repeat(np.array(expected)[:, None], 2, axis=1), rtol=1e-4)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"half_after": 0}, "half_after is 0"),
        ({"clip": 0.0}, "norm of a gradient is 0"),
        ({"clip": float("nan")}, "norm of a gradient is nan"),
        ({"second_decay": 1.0}, "second_decay is 1"),
    ],
)
def test_what_cannot_be_is_refused(wrong, words):
    with pytest.raises(AmbsError, match=words):
        OptimiserConfig(**{"learning_rate": 0.1, "epsilon": 1e-8, "clip": 1.0, **wrong})

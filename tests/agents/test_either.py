"""The criterion either: an action passes if one of the two policies would keep the formula after it."""

import jax.numpy as jnp
import numpy as np

from ambs.agents.shielding import _either
from ambs.types import Decision


def decision(overridden, action, estimate, traces):
    overridden, estimate = jnp.asarray(overridden), jnp.asarray(estimate)
    return Decision(jnp.asarray(action), overridden, estimate, estimate - 0.1, estimate + 0.1, jnp.asarray(traces))


def test_the_second_opinion_counts_where_the_first_refused():
    """Four environments: passed by the first; refused by it and passed by the second; refused by both; not asked."""
    proposed, safe = [1.0, 0.0], [0.0, 1.0]
    first = decision([False, True, True, False], [proposed, safe, safe, proposed], [0.9, 0.2, 0.3, 1.0], [8, 16, 24, 8])
    second = decision([True, False, True, True], [safe, proposed, safe, safe], [0.0, 0.8, 0.1, 0.0], [0, 32, 40, 0])
    both = _either(first, second)
    assert both.overridden.tolist() == [False, False, True, False]
    assert both.action.tolist() == [proposed, proposed, safe, proposed]
    np.testing.assert_allclose(both.estimate, [0.9, 0.8, 0.3, 1.0])
    np.testing.assert_allclose(both.high, [1.0, 0.9, 0.4, 1.1])
    assert both.traces.tolist() == [8, 48, 64, 8]

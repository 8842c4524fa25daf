"""What shields said since the last row of metrics, by hand; of what nobody knows there is no mean."""

import jax.numpy as jnp
import numpy as np
import pytest

from ambs.envs.vector import Verdicts
from ambs.runs.dreamer.decisions import Decisions
from ambs.runs.dreamer.verdicts import VerdictSums
from ambs.types import Decision

NAN = float("nan")


def verdicts(*estimates):
    number = len(estimates)
    asked, overridden = np.ones(number, bool), np.arange(number) == 0
    steps, seconds = np.full(number, 5, np.int64), np.zeros(number, np.float64)
    return (Verdicts(np.zeros(number, int), asked, overridden, np.array(estimates, np.float32), steps, seconds),)


def decision(*estimates):
    found, number = jnp.asarray(estimates, jnp.float32), len(estimates)
    played = np.ones(number, bool)
    return Decision(jnp.zeros(number), jnp.arange(number) == 0, found, found, found, jnp.full(number, 5)), played


@pytest.mark.parametrize(
    ("sums", "said", "cost"), [(VerdictSums, verdicts, "shield/steps"), (Decisions, decision, "shield/traces")]
)
def test_an_estimate_is_the_mean_of_those_that_are_known_and_left_out_where_none_is(sums, said, cost):
    found = sums()
    assert found.means() == {}
    found.add(*said(NAN, NAN))
    assert found.means() == {"shield/override_rate": 0.5, cost: 5.0}
    found.add(*said(1.0, 0.5))
    assert found.means() == {"shield/override_rate": 0.5, "shield/estimate": 0.75, cost: 5.0}

"""The augmented Lagrangian by hand, and on a problem whose constrained optimum is known."""

import jax
import jax.numpy as jnp
import pytest

from ambs.behaviour.multipliers import Multipliers


def test_the_slope_and_the_update_by_hand():
    me = Multipliers.start(0.2, 0.1)
    # g = 3: λ + μ g = 0.5; g = -3: 0.2 - 0.3 is below 0, and the constraint counts nothing.
    assert float(me.slope(jnp.float32(3.0))) == pytest.approx(0.5)
    assert float(me.slope(jnp.float32(-3.0))) == 0
    after = me.update(jnp.float32(3.0), 0.5)
    assert (float(after.lagrange), float(after.penalty)) == pytest.approx((0.5, 0.15))
    assert float(me.update(jnp.float32(-3.0), 0.5).lagrange) == 0


def test_the_penalty_multiplier_grows_from_its_start_to_one_and_never_jumps():
    me = Multipliers.start(0.0, 5e-9)
    after = me.update(jnp.float32(0.0), 1e-5)
    assert float(after.penalty) == pytest.approx(5e-9 * (1 + 1e-5), rel=1e-6)
    assert float(Multipliers.start(0.0, 0.9).update(jnp.float32(0.0), 0.5).penalty) == 1.0
    assert float(Multipliers.start(0.0, 4.0).update(jnp.float32(0.0), 0.5).penalty) == 4.0


@pytest.mark.parametrize(("allowed", "risk", "price"), [(3.0, 0.3, 0.1), (1.0, 0.1, 0.1), (12.0, 1.0, 0.0)])
def test_a_choice_between_two_settles_where_the_constraint_allows(allowed, risk, price):
    """One action pays 1 and costs nothing, the other pays 2 and costs 10, of which on average `allowed` may be paid.

    So the best takes the second with probability allowed / 10, and there one more of cost buys 1/10 of reward: λ = 0.1.
    With 12 allowed the constraint does not bind: always the second, and λ = 0.
    """

    def step(state, _):
        logit, multipliers = state
        risky = jax.nn.sigmoid(logit)
        weight = multipliers.slope(10 * risky - allowed)
        slope = risky * (1 - risky) * (1 - weight * 10) / (1 + weight)
        logit = logit + slope
        return (logit, multipliers.update(10 * jax.nn.sigmoid(logit) - allowed, 1e-4)), None

    start = (jnp.zeros(()), Multipliers.start(0.0, 1e-3))
    (logit, multipliers), _ = jax.lax.scan(step, start, length=20_000)
    assert float(jax.nn.sigmoid(logit)) == pytest.approx(risk, abs=0.01)
    assert float(multipliers.lagrange) == pytest.approx(price, abs=0.005)

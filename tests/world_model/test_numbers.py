"""Symlog and two-hot, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.world_model.numbers import BINS, RANGE, TwoHot, symexp, symlog


def test_symlog_by_hand():
    np.testing.assert_allclose(symlog(jnp.array([0.0, np.e - 1, 1 - np.e**2])), [0, 1, -2], atol=1e-6)


def test_symexp_undoes_symlog():
    x = jnp.array([-1000.0, -1.5, 0.0, 0.3, 20_000.0])
    np.testing.assert_allclose(symexp(symlog(x)), x, rtol=1e-4)


WIDTH = 2 * RANGE / (BINS - 1)


def test_a_target_between_two_bins_weighs_both():
    """A quarter of the way from bin 130 to bin 131: the loss is 3/4 and 1/4 of their surprise."""
    target = symexp(jnp.array(-RANGE + 130.25 * WIDTH))
    logits = jnp.zeros(BINS).at[130].set(2.0).at[131].set(1.0)
    surprise = -jax.nn.log_softmax(logits)
    assert TwoHot(logits).loss(target) == pytest.approx(float(0.75 * surprise[130] + 0.25 * surprise[131]), rel=1e-4)


@pytest.mark.parametrize("target", [0.0, 1.0, -3.7, 10.0, 250.0])
def test_the_best_prediction_has_the_target_as_its_mean(target):
    """The gradient of a cross-entropy is the prediction minus the target's distribution."""
    logits = jax.random.normal(jax.random.key(0), (BINS,))
    gradient = jax.grad(lambda logits: TwoHot(logits).loss(jnp.asarray(target)))(logits)
    twohot = jax.nn.softmax(logits) - gradient
    assert float(jnp.sum(twohot > 1e-4)) <= 2
    assert float(TwoHot(jnp.log(twohot.clip(1e-12))).mean) == pytest.approx(target, rel=1e-3, abs=1e-4)


def test_untrained_heads_say_zero():
    assert float(TwoHot(jnp.zeros(BINS)).mean) == pytest.approx(0, abs=1e-5)


def test_numbers_beyond_the_bins_count_as_the_last():
    logits = jnp.zeros(BINS).at[-1].set(5.0)
    assert float(TwoHot(logits).loss(jnp.asarray(1e12))) == pytest.approx(float(-jax.nn.log_softmax(logits)[-1]))


def test_the_expected_cost_is_a_mean_of_costs_and_not_of_their_symlog():
    """Half at 0, half on the two bins around 10: 5. What is below 0 counts as 0, what is beyond as the bin above 10."""
    place = (np.log(11) + 20) * 254 / 40
    low, share = int(place), place - int(place)
    probs = np.full(255, 1e-12)
    probs[127], probs[low], probs[low + 1] = 0.5, 0.5 * (1 - share), 0.5 * share
    said = TwoHot(jnp.log(jnp.asarray(probs, jnp.float32)))
    assert float(said.expected(10.0)) == pytest.approx(5.0, rel=0.01)
    assert float(said.mean) == pytest.approx(11**0.5 - 1, rel=0.01)
    assert float(TwoHot(50 * jnp.eye(255)[10]).expected(10.0)) == pytest.approx(0.0, abs=1e-6)
    assert float(TwoHot(50 * jnp.eye(255)[250]).expected(10.0)) == pytest.approx(np.expm1((low + 1) * 40 / 254 - 20))

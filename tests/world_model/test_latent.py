"""Categorical latents: unimix, sampling, straight-through gradients and the balanced KL, by hand."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ambs.world_model.latent import Latent, balanced_kl, kl


def test_one_percent_is_uniform():
    probs = Latent(jnp.array([[[100.0, 0.0]]])).probs
    np.testing.assert_allclose(probs, [[[0.99 + 0.005, 0.005]]], atol=1e-6)


def test_samples_have_the_probabilities():
    latent = Latent(jnp.log(jnp.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]])))
    drawn = jax.vmap(lambda key: latent.sample(key=key))(jax.random.split(jax.random.key(0), 20_000))
    np.testing.assert_allclose(drawn.mean(axis=0), latent.probs, atol=0.012)
    assert set(np.unique(np.asarray(drawn).round(6))) == {0.0, 1.0}


def test_the_gradient_passes_straight_through():
    weights = jnp.array([[1.0, -2.0, 0.5]])

    def through(sampled):
        return lambda logits: jnp.sum(weights * sampled(Latent(logits)))

    logits = jnp.array([[0.3, 0.1, -0.4]])
    drawn = jax.grad(through(lambda latent: latent.sample(key=jax.random.key(1))))(logits)
    smooth = jax.grad(through(lambda latent: latent.probs))(logits)
    np.testing.assert_allclose(drawn, smooth, atol=1e-6)


def two(p: float) -> Latent:
    """One binary variable with probability p, unimix undone."""
    raw = (p - 0.005) / 0.99
    return Latent(jnp.log(jnp.array([[raw, 1 - raw]])))


def test_kl_by_hand():
    expected = 0.8 * np.log(0.8 / 0.4) + 0.2 * np.log(0.2 / 0.6)
    assert float(kl(two(0.8), two(0.4))) == pytest.approx(expected, rel=1e-4)
    assert float(kl(two(0.8), two(0.8))) == pytest.approx(0, abs=1e-6)


def test_free_nats_and_which_side_learns():
    """Below one nat nothing learns; above, each loss moves its own side only."""

    def losses(post, prior):
        return balanced_kl(Latent(post), Latent(prior))

    near, far = jnp.array([[0.1, 0.0]]), jnp.array([[20.0, 0.0]])
    for index in (0, 1):
        assert losses(near, -near)[index] == 1.0
        for argument in (0, 1):
            gradient = jax.grad(lambda *both, i=index: losses(*both)[i], argnums=argument)(far, -far)
            # Dynamics moves the prior (argument 1), representation the posterior (argument 0).
            assert bool(jnp.any(gradient != 0)) == (index != argument)
        assert not jnp.any(jax.grad(lambda post, i=index: losses(post, -near)[i])(near))


def test_the_free_nat_is_that_of_all_variables_together():
    """KL(0.8 ‖ 0.4) = 0.8 ln 2 + 0.2 ln 1/3 = 0.33480 a variable: free alone, and 4 of them, 1.33920, are not."""
    one = Latent(two(0.8).logits), Latent(two(0.4).logits)
    four = tuple(Latent(jnp.tile(each.logits, (4, 1))) for each in one)
    for loss in balanced_kl(*one):
        assert float(loss) == 1.0
    for loss in balanced_kl(*four):
        assert float(loss) == pytest.approx(1.33920, abs=1e-4)


def test_the_gradient_of_each_side_by_hand():
    """For two classes with logits (a, 0), softmax q and p = 0.99 q + 0.005, dp/da = 0.99 q (1 - q).

    prior at p' = 0.4 (q = 0.39899)      d/dp' KL = (p' - p) / (p' (1 - p')) = -0.4/0.24        · 0.23740 = -0.39567
    posterior at p = 0.8 (q = 0.80303)   d/dp KL = ln p/(1-p) - ln p'/(1-p') = 1.79176          · 0.15660 = 0.28059
    """
    post, prior = two(0.8).logits, two(0.4).logits
    dynamics = jax.grad(lambda prior: balanced_kl(Latent(post), Latent(prior), free=0.0)[0])(prior)
    representation = jax.grad(lambda post: balanced_kl(Latent(post), Latent(prior), free=0.0)[1])(post)
    np.testing.assert_allclose(dynamics, [[-0.39567, 0.39567]], atol=1e-4)
    np.testing.assert_allclose(representation, [[0.28059, -0.28059]], atol=1e-4)

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

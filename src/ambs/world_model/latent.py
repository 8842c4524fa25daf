"""The stochastic state: several categorical variables, sampled with a gradient that passes straight through."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

# A share of the uniform distribution keeps every class possible, and the KL finite.
UNIMIX = 0.01


class Latent(eqx.Module):
    """Independent categorical variables, `logits[variable, class]`, each mixed with 1 % of the uniform distribution."""

    logits: Float[Array, "*shape variables classes"]

    @property
    def probs(self) -> Float[Array, "*shape variables classes"]:
        return (1 - UNIMIX) * jax.nn.softmax(self.logits) + UNIMIX / self.logits.shape[-1]

    def sample(self, *, key: PRNGKeyArray) -> Float[Array, "*shape variables classes"]:
        """One-hot; backward, the gradient of the probabilities."""
        return _straight_through(self.draw(key=key), self.probs)

    def draw(self, *, key: PRNGKeyArray) -> Int[Array, "*shape variables"]:
        """The class of each variable, by one uniform number a variable."""
        probs = jax.lax.stop_gradient(self.probs)
        drawn = jax.random.uniform(key, (*probs.shape[:-1], 1), probs.dtype)
        # A cumulative sum, which a CPU is five times slower at.
        up_to = jnp.triu(jnp.ones((probs.shape[-1],) * 2, probs.dtype))
        total = jnp.matmul(probs, up_to, precision=jax.lax.Precision.HIGHEST)
        return jnp.sum(drawn >= total, axis=-1).clip(0, probs.shape[-1] - 1)

    def mode(self) -> Float[Array, "*shape variables classes"]:
        probs = self.probs
        return _straight_through(jnp.argmax(probs, axis=-1), probs)


def kl(p: Latent, q: Latent) -> Float[Array, "*shape"]:
    """KL(p ‖ q), summed over the variables."""
    left, right = p.probs, q.probs
    return jnp.sum(left * (jnp.log(left) - jnp.log(right)), axis=(-2, -1))


def balanced_kl(
    posterior: Latent, prior: Latent, free: float = 1.0
) -> tuple[Float[Array, "*shape"], Float[Array, "*shape"]]:
    """The dynamics and the representation loss: each side of the KL with the other one held still, and free nats.

    L_dyn = max(free, KL(sg(post) ‖ prior)),    L_rep = max(free, KL(post ‖ sg(prior)))
    """
    still = jax.lax.stop_gradient
    dynamics = kl(still(posterior), prior)
    representation = kl(posterior, still(prior))
    return jnp.maximum(free, dynamics), jnp.maximum(free, representation)


def _straight_through(
    index: Array, probs: Float[Array, "*shape variables classes"]
) -> Float[Array, "*shape variables classes"]:
    onehot = jax.nn.one_hot(index, probs.shape[-1], dtype=probs.dtype)
    return jax.lax.stop_gradient(onehot - probs) + probs

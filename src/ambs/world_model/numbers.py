"""Numbers of any size as distributions over fixed bins: symlog and two-hot (DreamerV3).

    symlog(x) = sign(x) ln(|x| + 1),    symexp(y) = sign(y) (exp(|y|) - 1)

A scalar y is predicted by a categorical distribution over bins b_i that are evenly spaced in symlog space; its target
puts weight on the two bins next to symlog(y), so that their weighted mean is symlog(y) exactly.
"""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

BINS = 255
RANGE = 20.0


def symlog(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return jnp.sign(x) * jnp.log1p(jnp.abs(x))


def symexp(x: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    return jnp.sign(x) * jnp.expm1(jnp.abs(x))


class TwoHot(eqx.Module):
    """A scalar as a categorical distribution over 255 bins from symlog -20 to 20."""

    logits: Float[Array, "*shape bins"]

    @property
    def mean(self) -> Float[Array, "*shape"]:
        """symexp(Σ p_i b_i), as the first version of DreamerV3 has it."""
        # A sum and not a product of matrices, which accelerators would round.
        probs = jax.nn.softmax(self.logits)
        return symexp(jnp.sum(probs * jnp.broadcast_to(_bins(probs.dtype), probs.shape), axis=-1))

    def expected(self, most: float) -> Float[Array, "*shape"]:
        """Σ p_i symexp(b_i), the mean of what is known to lie from 0 to `most`; bins beyond count as the first that is.

        `mean` is one in symlog space: of 10 or 0 with equal probability it says 2.3, this 5.
        """
        probs = jax.nn.softmax(self.logits)
        worth = symexp(_bins(probs.dtype))
        worth = worth.clip(0.0, jnp.min(worth, where=worth >= most, initial=jnp.inf))
        return jnp.sum(probs * jnp.broadcast_to(worth, probs.shape), axis=-1)

    def loss(self, target: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
        """-Σ twohot(symlog target)_i ln p_i, gathered from the two bins that count."""
        place = (symlog(target).clip(-RANGE, RANGE) + RANGE) * ((BINS - 1) / (2 * RANGE))
        low = jnp.floor(place).clip(0, BINS - 2).astype(jnp.int32)
        share = place - low
        log_probs = jax.nn.log_softmax(self.logits)
        at_low = jnp.take_along_axis(log_probs, low[..., None], axis=-1)[..., 0]
        at_high = jnp.take_along_axis(log_probs, low[..., None] + 1, axis=-1)[..., 0]
        return -((1 - share) * at_low + share * at_high)


def _bins(dtype: jnp.dtype) -> Float[Array, " bins"]:
    return jnp.linspace(-RANGE, RANGE, BINS, dtype=dtype)

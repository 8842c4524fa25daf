"""How the cells of a grid come next: what is the only one of its kind is somewhere, all else is or is not.

A player who may move on or stay is drawn cell by cell as two players, or as none: each cell throws a die of its own,
and after some imagined steps nobody is left to act. So a channel is one of two kinds, and which is learned:

    lone     exactly one cell, by a softmax over all of them
    any      each cell on its own

    -ln p = -Σ_channels ln(σ(g) p_lone + (1 - σ(g)) p_any),    g a number a channel, learned with everything else

Of a thing that comes and goes it is a die that says which kind it is drawn as, with probability σ(g). What is nearly
certain is taken for certain: g grows ever more slowly, and a player must not be lost for that.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.world_model.dice import uniform

# Less likely than anything that happens, and still a number.
_NEVER = -1e9
# Log-odds of 0.95, beyond which a channel is taken to be of one kind.
CERTAIN = math.log(0.95 / 0.05)


def draw_any(logits: Float[Array, "*shape"], *, key: PRNGKeyArray) -> Float[Array, "*shape"]:
    """Zeros and ones, each by a die of its own; backward, the gradient of the probabilities."""
    probs = jax.nn.sigmoid(logits)
    drawn = (uniform(key, probs.shape) < probs).astype(probs.dtype)
    return jax.lax.stop_gradient(drawn - probs) + probs


def draw_lone(
    logits: Float[Array, "*shape rows columns channels"], *, key: PRNGKeyArray
) -> Float[Array, "*shape rows columns channels"]:
    """One cell of every channel: that in which a die falls, when their probabilities are laid end to end in reading
    order. Backward, the gradient of the probabilities."""
    *shape, rows, columns, channels = logits.shape
    probs = jax.nn.softmax(logits.reshape(*shape, rows * columns, channels), axis=-2)
    # A product, since a CPU is slow at running sums; exact, or what is rounded off would fall into the last cell.
    below = jnp.asarray(np.tri(rows * columns, k=-1), probs.dtype)
    start = jnp.einsum("ij,...jc->...ic", below, jax.lax.stop_gradient(probs), precision=jax.lax.Precision.HIGHEST)
    passed = start <= uniform(key, (*shape, 1, channels))
    drawn = passed & ~jnp.concatenate([passed[..., 1:, :], jnp.zeros_like(passed[..., :1, :])], axis=-2)
    through = jax.lax.stop_gradient(drawn.astype(probs.dtype) - probs) + probs
    return through.reshape(logits.shape)


def draw(
    log_odds: Float[Array, " channels"], logits: Float[Array, "*shape rows columns channels"], *, key: PRNGKeyArray
) -> Float[Array, "*shape rows columns channels"]:
    """All channels, each as what it is; `log_odds` that its things are lone."""
    keys = jax.random.split(key, 3)
    odds = jnp.where(jnp.abs(log_odds) > CERTAIN, jnp.sign(log_odds) * jnp.inf, log_odds)
    *shape, _, _, channels = logits.shape
    alone = uniform(keys[0], (*shape, 1, 1, channels)) < jax.nn.sigmoid(odds).reshape(*[1] * (logits.ndim - 1), -1)

    def either() -> Float[Array, "*shape rows columns channels"]:
        return jnp.where(alone, draw_lone(logits, key=keys[1]), draw_any(logits, key=keys[2]))

    def on_their_own() -> Float[Array, "*shape rows columns channels"]:
        return draw_any(logits, key=keys[2])

    # What is certainly not lone, as mostly all but the player, is not laid end to end.
    return jax.lax.cond(jnp.all(odds == -jnp.inf), on_their_own, either)


def pick(
    lone: Bool[Array, " channels"],
    one: Float[Array, "*shape rows columns #channels"],
    other: Float[Array, "*shape rows columns channels"],
) -> Float[Array, "*shape rows columns channels"]:
    """`one` of the lone channels, `other` of the others; where only one is lone, `one` may be that alone."""
    return jnp.where(lone.reshape(*[1] * (one.ndim - 1), -1), one, other)


def surprise(
    log_odds: Float[Array, " channels"],
    logits: Float[Array, "*shape rows columns channels"],
    cells: Float[Array, "*shape rows columns channels"],
) -> Float[Array, "*shape"]:
    """-ln p(cells), summed over channels; `log_odds` that the things of one are lone."""
    place = (logits * cells).sum(axis=(-3, -2)) - jax.nn.logsumexp(logits, axis=(-3, -2))
    one = jnp.abs(cells.sum(axis=(-3, -2)) - 1) < 0.5
    by_place = jnp.where(one, place, _NEVER)
    by_cell = (logits * cells - jax.nn.softplus(logits)).sum(axis=(-3, -2))
    odds = log_odds.reshape(*[1] * (by_cell.ndim - 1), -1)
    return -jnp.logaddexp(jax.nn.log_sigmoid(odds) + by_place, jax.nn.log_sigmoid(-odds) + by_cell).sum(axis=-1)

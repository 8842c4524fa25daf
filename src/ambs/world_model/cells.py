"""How the cells of a grid come next: what is the only one of its kind is somewhere, all else is or is not.

A player who may move on or stay is drawn cell by cell as two players, or as none: each cell throws a die of its own,
and after some imagined steps nobody is left to act. So a channel is one of two kinds, and which is learned:

    lone     exactly one cell, by a softmax over all of them
    any      each cell on its own

    -ln p = -Σ_channels ln(σ(g) p_lone + (1 - σ(g)) p_any),    g a number a channel, learned with everything else

The first lone thing is drawn first, and the others are told where it went (`board.py`). They are all drawn by one die:
where two of them move as one, as bow and stern of a boat, they move so in imagination too.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.world_model.dice import uniform

# Less likely than anything that happens, and still a number.
_NEVER = -1e9


def draw_any(logits: Float[Array, "*shape"], *, key: PRNGKeyArray) -> Float[Array, "*shape"]:
    """Zeros and ones, each by a die of its own; backward, the gradient of the probabilities."""
    probs = jax.nn.sigmoid(logits)
    drawn = (uniform(key, probs.shape) < probs).astype(probs.dtype)
    return jax.lax.stop_gradient(drawn - probs) + probs


def draw_lone(
    logits: Float[Array, "*shape rows columns channels"], *, key: PRNGKeyArray
) -> Float[Array, "*shape rows columns channels"]:
    """One cell of every channel, all channels by the same die: the cell up to which its share of the probability lies,
    in reading order. Backward, the gradient of the probabilities."""
    *shape, rows, columns, channels = logits.shape
    probs = jax.nn.softmax(logits.reshape(*shape, rows * columns, channels), axis=-2)
    # A product, since a CPU is slow at running sums.
    below = jnp.asarray(np.tri(rows * columns, k=-1), probs.dtype)
    start = jnp.einsum("ij,...jc->...ic", below, jax.lax.stop_gradient(probs))
    die = uniform(key, (*shape,))[..., None, None]
    passed = start <= die
    drawn = passed & ~jnp.concatenate([passed[..., 1:, :], jnp.zeros_like(passed[..., :1, :])], axis=-2)
    through = jax.lax.stop_gradient(drawn.astype(probs.dtype) - probs) + probs
    return through.reshape(logits.shape)


def pick(
    lone: Bool[Array, " channels"],
    one: Float[Array, "*shape rows columns channels"],
    other: Float[Array, "*shape rows columns channels"],
) -> Float[Array, "*shape rows columns channels"]:
    """`one` of the lone channels, `other` of the others."""
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

"""States drawn without seeing, as imagination draws them, along sequences in which it is known what happened.

In the states that the paper teaches the heads on, an event has been seen already. Those that are imagined only foresee
it, and there the heads would have learned nothing: imagined futures would be far too safe. Beyond the first step it is
the dynamics that have to keep what matters, and being asked for the events is what tells them what does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray


def foresee(
    imagine: Callable[..., Any], states: Any, action: Float[Array, "batch time actions"],
    is_first: Bool[Array, "batch time"], steps: int, *, key: PRNGKeyArray,
) -> tuple[Any, Bool[Array, "batch foreseen"]]:  # fmt: skip
    """Of rows 1, 2, ... of each sequence, a state each, drawn by `imagine` from one seen up to `steps` rows before.

    The sequence is cut into windows of `steps` rows; each is imagined from the row before it, with the actions played.
    Rows at the end that fill no window are left out. Also says where the window has not crossed into another
    episode, of which nothing could be foreseen.
    """
    windows = (is_first.shape[1] - 1) // steps

    def lag(each: Array, by: Array | int) -> Array:
        """Of every window, the row that is `by` after its start."""
        return jnp.take(each, steps * jnp.arange(windows) + by, axis=1)

    def step(state: Any, by: Array) -> tuple[Any, tuple[Any, Bool[Array, "batch windows"]]]:
        state = imagine(state, lag(action, by), key=jax.random.fold_in(key, by))
        return state, (state, lag(is_first, by))

    start = jax.tree.map(lambda each: lag(each, 0), states)
    _, (drawn, firsts) = jax.lax.scan(step, start, jnp.arange(1, steps + 1))
    same = ~jax.lax.associative_scan(jnp.logical_or, firsts, axis=0)
    return jax.tree.map(_in_order, (drawn, same))


def _in_order(each: Array) -> Array:
    """`[steps, batch, windows, ...]` → `[batch, windows * steps, ...]`: row after row."""
    return jnp.moveaxis(each, 0, 2).reshape(each.shape[1], -1, *each.shape[3:])

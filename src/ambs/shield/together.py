"""Many decisions at once, none of which waits for the slowest: those that are made draw no more traces.

Under vmap a loop goes on for all until the last is decided, and one environment in doubt makes eight of them draw.
Here the few that are left are gathered into a smaller batch. The traces, and so the decisions, are the same.
"""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from ambs.shield.lookahead import LookaheadShield
from ambs.shield.rounds import Course, Rounds
from ambs.types import Action, Decision, State


@eqx.filter_jit
def decide_together(
    shield: LookaheadShield, states: State, proposed: Action, keys: Key[Array, " envs"],
    wanted: Bool[Array, " envs"] | None = None,
) -> Decision:  # fmt: skip
    """As `jax.vmap(shield)`, in less time; the leading axis of everything is that of the environments.

    Of those that are not `wanted`, no trace is drawn, and what is decided means nothing.
    """
    rounds, count = Rounds(shield.test), len(keys)
    backup_keys, trace_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
    # Each size is compiled: all of them, and a half and a quarter, which is what is mostly left.
    sizes = [count] if count < 4 else [count // 4, count // 2, count]

    def open_ones(course: Course) -> Bool[Array, " envs"]:
        undecided = rounds.undecided(course)
        return undecided if wanted is None else undecided & wanted

    def advance(size: int, course: Course, order: Int[Array, " envs"]) -> Course:
        rows = order[:size]
        before, *given = jax.tree.map(lambda each: each[rows], (course, states, proposed, trace_keys))
        after = jax.vmap(partial(shield.draw, rounds))(before, *given)
        # A batch that is not full is filled up with decisions that are made.
        still = open_ones(course)[rows]
        kept = jax.tree.map(lambda old, new: jnp.where(still, new, old), before, after)
        return jax.tree.map(lambda all_, some: all_.at[rows].set(some), course, kept)

    def round_(course: Course) -> Course:
        open_ = open_ones(course)
        which = jnp.searchsorted(jnp.asarray(sizes), jnp.sum(open_))
        return jax.lax.switch(which, [partial(advance, size) for size in sizes], course, jnp.argsort(~open_))

    course = jax.lax.while_loop(lambda course: jnp.any(open_ones(course)), round_, Course.start(count))
    return jax.vmap(partial(shield.judge, rounds))(course, states, proposed, backup_keys)

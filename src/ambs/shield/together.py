"""Many decisions at once, none of which waits for the slowest: those that are made draw no more traces.

Under vmap a loop goes on for all until the last is decided, and one environment in doubt makes eight of them draw; and
all are asked for a backup if one is. Here the few that are left are gathered into a smaller batch. The traces, and so
the decisions, are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Key

from ambs.shield.lookahead import LookaheadShield, either_action
from ambs.shield.rounds import Course, Rounds
from ambs.types import Action, Decision, Policy, State


@eqx.filter_jit
def decide_together(shield: LookaheadShield, states: State, proposed: Action, keys: Key[Array, " envs"]) -> Decision:
    """As `jax.vmap(shield)`, in less time; the leading axis of everything is that of the environments."""
    backup_keys, trace_keys = jnp.moveaxis(jax.vmap(jax.random.split)(keys), 1, 0)
    return take_over(shield.backup, judge_together(shield, states, proposed, trace_keys), states, backup_keys)


def judge_together(
    shield: LookaheadShield, states: State, proposed: Action, keys: Key[Array, " envs"],
    wanted: Bool[Array, " envs"] | None = None,
) -> Decision:  # fmt: skip
    """What passes, the backup policy not yet asked where it does not.

    Of those that are not `wanted`, no trace is drawn, and what is decided means nothing.
    """
    rounds = Rounds(shield.test)

    def open_ones(course: Course) -> Bool[Array, " envs"]:
        undecided = rounds.undecided(course)
        return undecided if wanted is None else undecided & wanted

    def round_(course: Course) -> Course:
        drawn = partial(shield.draw, rounds)
        return _of_some(open_ones(course), drawn, course, (course, states, proposed, keys))

    course = jax.lax.while_loop(lambda course: jnp.any(open_ones(course)), round_, Course.start(len(keys)))
    return jax.vmap(partial(shield.judge, rounds))(course, proposed)


def take_over(backup: Policy, decisions: Decision, states: State, keys: Key[Array, " envs"]) -> Decision:
    """The same decisions, with the backup's action where they override."""

    def ask(state: State, proposed: Action, key: Key[Array, ""]) -> Action:
        return either_action(backup, state, proposed, key)[0]()

    def keep(state: State, proposed: Action, key: Key[Array, ""]) -> Action:
        return either_action(backup, state, proposed, key)[1]()

    given = (states, decisions.action, keys)
    action = _of_some(decisions.overridden, ask, jax.vmap(keep)(*given), given, none=True)
    return decisions._replace(action=action)


def _of_some(
    wanted: Bool[Array, " envs"], function: Callable[..., Any], others: Any, given: tuple[Any, ...], *,
    none: bool = False,
) -> Any:  # fmt: skip
    """`function` of the rows of `given` that are wanted, and the rows of `others` for the rest; `none` may be wanted.

    Each size of batch is compiled: all rows, a half and a quarter of them, which is what is mostly left.
    """
    count = len(wanted)
    sizes = [count] if count < 4 else [count // 4, count // 2, count]
    order = jnp.argsort(~wanted)

    def of(size: int) -> Any:
        rows = order[:size]
        before, *mine = jax.tree.map(lambda each: each[rows], (others, *given))
        # A batch that is not full is filled up with rows that are not wanted.
        kept = jax.tree.map(
            lambda old, new: jnp.where(wanted[rows].reshape(-1, *(1,) * (new.ndim - 1)), new, old),
            before, jax.vmap(function)(*mine),
        )  # fmt: skip
        return jax.tree.map(lambda all_, some: all_.at[rows].set(some), others, kept)

    branches: list[Callable[[], Any]] = [partial(of, size) for size in sizes]
    if none:
        sizes, branches = [0, *sizes], [lambda: others, *branches]
    return jax.lax.switch(jnp.searchsorted(jnp.asarray(sizes), jnp.sum(wanted)), branches)

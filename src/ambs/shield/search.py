"""A backup policy that needs no learning: of some actions, the one after which most imagined futures stay safe.

Whatever policy is imagined to go on, the action that is best before it is, in the model and but for chance in the
traces, no worse than that policy's own, which is among those compared. That is said of one action and the T steps after
it: who searches again at the next step looks T steps ahead from there, and of that nothing follows. A policy that has
hardly learned yet makes a poor backup; the best action before it may be a good one.
"""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.errors import AmbsError, positive_integer
from ambs.shield.criteria import Criterion
from ambs.shield.imagine import imagine
from ambs.shield.watching import Watched, lost
from ambs.types import Action, Model, Policy, State


class Search(eqx.Module):
    """Plays the action after which the largest share of traces satisfies the formula, `policy` going on.

    Attributes:
        model: what to imagine in.
        policy: who goes on after the action; where actions are equally good, its own is played.
        criterion: whether a trace satisfies the formula, e.g. `LabelCriterion` of its path.
        actions: those to choose from, stacked along the first axis of every leaf.
        traces: how many are imagined after each action; all actions meet the same chance in theirs.
    """

    model: Model
    policy: Policy
    criterion: Criterion
    actions: Action
    traces: int = eqx.field(static=True, default=32)

    def __check_init__(self) -> None:
        positive_integer("the number of traces after each action", self.traces)
        counts = {jnp.shape(leaf)[:1] for leaf in jax.tree.leaves(self.actions)}
        if len(counts) != 1 or counts.pop() in ((), (0,)):
            raise AmbsError("the actions to choose from have to be arrays with one of them a row, all of one length.")

    def shares(self, state: State, *, key: PRNGKeyArray) -> Float[Array, " actions"]:
        """Of each action, the share of traces after it that satisfy the formula."""
        keys = jax.random.split(key, self.traces)
        return jax.vmap(lambda action: jnp.mean(jax.vmap(lambda key: self._safe(state, action, key))(keys)))(
            self.actions
        )

    def sample(self, state: State, *, key: PRNGKeyArray) -> Action:
        own_key, key = jax.random.split(key)
        own = self.policy.sample(state, key=own_key)
        # Less than one trace, so that it decides only between equals.
        shares = self.shares(state, key=key) + 0.5 / self.traces * _same(self.actions, own)
        return jax.tree.map(lambda leaf: jnp.asarray(leaf)[jnp.argmax(shares)], self.actions)

    def _safe(self, state: State, action: Action, key: PRNGKeyArray) -> Float[Array, ""]:
        trajectory = imagine(
            Watched(self.model), self.policy, state, self.criterion.steps, key=key, first_action=action
        )
        judge = jax.random.fold_in(key, self.criterion.steps)
        # A model that predicts no number has not said that it is safe.
        return (self.criterion(trajectory, key=judge) & ~lost(trajectory)).astype(jnp.float32)


def _same(actions: Action, one: Any) -> Float[Array, " actions"]:
    """Which of the actions is this one."""
    equal = [
        jnp.all(jnp.reshape(jnp.asarray(many) == jnp.asarray(single)[None], (jnp.shape(many)[0], -1)), axis=-1)
        for many, single in zip(jax.tree.leaves(actions), jax.tree.leaves(one), strict=True)
    ]
    return jnp.all(jnp.stack(equal), axis=0).astype(jnp.float32)

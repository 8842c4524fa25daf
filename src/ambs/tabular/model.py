"""A model that is a table: known, or counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int, PRNGKeyArray

from ambs.errors import ModelError, positive_integer
from ambs.logic import FiniteModel
from ambs.types import Prediction


class TabularModel(eqx.Module):
    """Finite dynamics for the shield, `kernel[s, a, s']`, with labels by state.

    Kept as each pair's few successors and their cumulative probabilities: a step is one uniform number and one short
    row, however many states there are.

    Attributes:
        successors: [states, actions, most successors of a pair], padded with the last one.
        cumulative: their cumulative probabilities, ending in 1.
        labels: atom → which states have it.
        cost: by state; 0 where the formula holds. None if the model knows no costs.
        cont: by state: 0 where an episode ends.
    """

    successors: Int[Array, "states actions width"]
    cumulative: Float[Array, "states actions width"]
    labels: dict[str, Bool[Array, " states"]]
    cost: Float[Array, " states"] | None
    cont: Float[Array, " states"]

    def __init__(
        self,
        kernel: Any,
        labels: Mapping[str, Any],
        *,
        terminal: Any = None,
        cost: Any = None,
        width: int | None = None,
    ) -> None:
        """`terminal` marks states that end an episode. `width` reserves room for successors, so that models that are
        learned anew keep their shapes and are not compiled anew."""
        finite = FiniteModel.mdp(np.asarray(kernel, float), {name: np.asarray(mask) for name, mask in labels.items()})
        states, actions = finite.states, finite.choices // finite.states
        successors, cumulative = _short_rows(finite, width)
        shape = (states, actions, -1)
        self.successors = jnp.asarray(successors.reshape(shape), jnp.int32)
        self.cumulative = jnp.asarray(cumulative.reshape(shape), jnp.float32)
        self.labels = {name: jnp.asarray(mask) for name, mask in finite.labels.items()}
        self.cost = None if cost is None else _by_state("cost", cost, states)
        self.cont = 1.0 - _by_state("terminal", np.zeros(states) if terminal is None else terminal, states)

    @property
    def table_shape(self) -> tuple[int, int]:
        states, actions, _ = self.successors.shape
        return states, actions

    @property
    def has_costs(self) -> bool:
        return self.cost is not None

    def step(
        self, state: Int[ArrayLike, ""], action: Int[ArrayLike, ""], *, key: PRNGKeyArray
    ) -> tuple[Int[Array, ""], Prediction]:
        draw = jax.random.uniform(key)
        index = jnp.sum(draw >= self.cumulative[state, action])
        following = self.successors[state, action, jnp.minimum(index, self.successors.shape[-1] - 1)]
        labels = {name: mask[following] for name, mask in self.labels.items()}
        cost = jnp.zeros(()) if self.cost is None else self.cost[following]
        return following, Prediction(cost, self.cont[following], labels)


class TabularPolicy(eqx.Module):
    """A stationary policy, `probs[s, a]`."""

    cumulative: Float[Array, "states actions"]

    def __init__(self, probs: Any) -> None:
        table = np.asarray(probs, float)
        if table.ndim != 2:
            raise ModelError(f"a policy is a table [states, actions] of probabilities, not of shape {table.shape}.")
        if not np.all(table >= 0) or not np.isfinite(table).all():
            state, action = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0]
            raise ModelError(
                f"the probability of action {action} in state {state} of the policy is {table[state, action]:g}, and "
                "has to lie in [0, 1]."
            )
        sums = table.sum(axis=1)
        wrong = np.flatnonzero(np.abs(sums - 1) > 1e-5)
        if len(wrong):
            raise ModelError(
                f"the probabilities of the policy in state {wrong[0]} sum to {sums[wrong[0]]:.6g}, not to 1."
            )
        cumulative = np.cumsum(table, axis=1)
        self.cumulative = jnp.asarray(cumulative / cumulative[:, -1:], jnp.float32)

    @classmethod
    def greedy(cls, actions: Any, count: int) -> TabularPolicy:
        """The deterministic policy that plays `actions[s]` of `count` actions."""
        table, count = np.asarray(actions), positive_integer("the number of actions", count)
        if table.ndim != 1 or table.dtype.kind not in "iu":
            raise ModelError(f"a greedy policy is one action number a state, not {table.dtype} of shape {table.shape}.")
        wrong = np.flatnonzero((table < 0) | (table >= count))
        if len(wrong):
            raise ModelError(
                f"the greedy policy plays action {table[wrong[0]]} in state {wrong[0]}, and there are only {count}, "
                f"numbered from 0."
            )
        return cls(np.eye(count)[table])

    @property
    def table_shape(self) -> tuple[int, int]:
        states, actions = self.cumulative.shape
        return states, actions

    @property
    def probs(self) -> Float[np.ndarray, "states actions"]:
        return np.diff(np.asarray(self.cumulative, float), axis=1, prepend=0.0)

    def sample(self, state: Int[ArrayLike, ""], *, key: PRNGKeyArray) -> Int[Array, ""]:
        # A draw just below 1 may pass a cumulative sum that rounding left below it.
        index = jnp.sum(jax.random.uniform(key) >= self.cumulative[state])
        return jnp.minimum(index, self.cumulative.shape[-1] - 1)


def _short_rows(finite: FiniteModel, width: int | None) -> tuple[np.ndarray, np.ndarray]:
    kernel = finite.kernel
    length = np.diff(kernel.indptr)
    if width is not None and length.max() > width:
        raise ModelError(f"a pair has {length.max()} successors, and there is room for {width}.")
    column = np.minimum(np.arange(width or length.max()), length[:, None] - 1)
    entry = kernel.indptr[:-1, None] + column
    total = np.cumsum(kernel.data)
    before = np.concatenate([[0.0], total])[kernel.indptr[:-1], None]
    cumulative = total[entry] - before
    # The last one is 1 whatever the sums came to.
    cumulative[column == length[:, None] - 1] = 1.0
    return kernel.indices[entry], cumulative


def _by_state(name: str, values: Any, states: int) -> Float[Array, " states"]:
    array = np.asarray(values, float)
    if array.shape != (states,) or not np.isfinite(array).all():
        raise ModelError(f"{name} has to be {states} numbers, one a state; it has shape {array.shape}.")
    return jnp.asarray(array, jnp.float32)

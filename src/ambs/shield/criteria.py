"""Does one imagined trace satisfy the formula? By its labels, or by its discounted cost.

The look-ahead counts the n transitions that follow the proposed action: states 1..n. State 0 is where the agent
already is, and not the action's doing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.errors import AmbsError, FormulaError
from ambs.logic import look_ahead, satisfies, syntax
from ambs.shield.imagine import Trajectory
from ambs.types import State, Tail


@runtime_checkable
class Criterion(Protocol):
    """Judges one trace; `steps` is how many transitions it wants to see, and `key` for what it leaves to chance."""

    @property
    def steps(self) -> int: ...

    def __call__(self, trajectory: Trajectory, *, key: PRNGKeyArray) -> Bool[Array, ""]: ...


class LabelCriterion(eqx.Module):
    """The path formula itself, on the labels of states 1..n.

    An episode that ends goes on in its last state: what was safe when it ended stays safe. Needs a model that
    predicts labels, and then is exact: no threshold, no discount.
    """

    path: syntax.PathFormula = eqx.field(static=True)

    def __check_init__(self) -> None:
        steps = look_ahead(self.path)
        if steps is None:
            raise FormulaError(f"'{self.path}' has no step bound, so no finite trace decides it; write e.g. G<=30.")
        if steps < 1:
            raise FormulaError(f"'{self.path}' looks {steps} steps ahead, and a shield has to look at least 1 ahead.")

    @property
    def steps(self) -> int:
        steps = look_ahead(self.path)
        assert steps is not None
        return steps

    def __call__(self, trajectory: Trajectory, *, key: PRNGKeyArray | None = None) -> Bool[Array, ""]:
        labels = trajectory.predictions.labels
        ended = trajectory.predictions.cont < 0.5
        last = jnp.where(jnp.any(ended), jnp.argmax(ended), len(ended) - 1)
        time = jnp.minimum(jnp.arange(len(ended)), last)
        return satisfies(_from_the_next_state(self.path), {name: value[time] for name, value in labels.items()})


class TailedCriterion(eqx.Module):
    """`G<=T Ψ` from H imagined steps: their labels, and for the rest how likely a violation is from where they ended.

    The trace is safe if states 1..H are, and a coin that falls so with probability 1 - q(s_H) says so; q(s) has to be
    the probability of breaking Ψ within T-H steps of s. Then the share of safe traces is what full traces would give,
    without bias. After an episode's end nothing more is asked.
    """

    path: syntax.PathFormula = eqx.field(static=True)
    imagined: int = eqx.field(static=True)
    tail: Callable[[State], Float[Array, ""]]

    def __check_init__(self) -> None:
        horizon = look_ahead(self.path)
        if not isinstance(self.path, syntax.Globally) or horizon is None or self.path.steps.lower > 1:
            raise FormulaError(f"a tail can be put to G<=n Ψ alone, and '{self.path}' is not of that form.")
        if not 1 <= self.imagined < horizon:
            raise AmbsError(
                f"a look-ahead of {horizon} with {self.imagined} imagined steps leaves no tail; imagine from 1 to "
                f"{horizon - 1} steps, or leave the tail out."
            )

    @property
    def steps(self) -> int:
        return self.imagined

    def __call__(self, trajectory: Trajectory, *, key: PRNGKeyArray) -> Bool[Array, ""]:
        near = dataclasses.replace(self.path, steps=syntax.Steps(0, self.imagined))  # type: ignore[type-var]
        ended = jnp.any(trajectory.predictions.cont < 0.5)
        violation = self.tail(jax.tree.map(lambda leaf: leaf[-1], trajectory.states))
        safe = jax.random.uniform(key) >= violation
        return LabelCriterion(near)(trajectory) & (ended | safe)


class CostCriterion(eqx.Module):
    """Proposition 2: the discounted cost of the trace is below what one violation at step T would cost.

        cost(τ) = sum_{t=1}^{H} w_t c_t + w_{H+1} V(s_H) < γ^{T-1} C,    w_t = γ^{t-1} prod_{k<t} cont_k

    T is the look-ahead (`horizon`), H <= T the steps that are `imagined`, and V the `tail`, so its weight is
    `γ^H prod_{k<=H} cont_k`.

    With exact costs (0 or C), exact cont and no tail this is `G<=H Ψ` on states 1..H, exactly. With a tail it reaches
    beyond H, but a discounted critic is no probability: it passes states that are unsafe beyond H with probability up
    to γ. `version="paper"` is what the paper prints: weights `(γ cont_t)^{t-1}`, under which a violation in a terminal
    state costs nothing, and with a tail the sum stops at H-1 and the tail is not discounted.
    """

    horizon: int = eqx.field(static=True)
    imagined: int = eqx.field(static=True)
    discount: float = eqx.field(static=True, default=0.997)
    violation_cost: float = eqx.field(static=True, default=10.0)
    tail: Tail | None = None
    version: str = eqx.field(static=True, default="sound")

    def __check_init__(self) -> None:
        if self.version not in ("sound", "paper"):
            raise AmbsError(f"version is {self.version!r}, and has to be 'sound' or 'paper'.")
        if not 1 <= self.imagined <= self.horizon:
            raise AmbsError(
                f"a look-ahead of {self.horizon} with {self.imagined} imagined steps is impossible; imagine at least 1 "
                "step, and no more than is looked ahead."
            )
        if not 0 < self.discount <= 1 or not self.violation_cost > 0:
            raise AmbsError(
                f"the discount {self.discount:g} has to lie in (0, 1] and the violation cost {self.violation_cost:g} "
                "above 0."
            )

    @property
    def steps(self) -> int:
        return self.imagined

    def __call__(self, trajectory: Trajectory, *, key: PRNGKeyArray | None = None) -> Bool[Array, ""]:
        threshold = self.discount ** (self.horizon - 1) * self.violation_cost
        # A hair less, so that rounding does not pass a violation at step T itself.
        return self.cost(trajectory) < threshold * (1 - 1e-5)

    def cost(self, trajectory: Trajectory) -> Float[Array, ""]:
        costs, cont = trajectory.predictions.cost, trajectory.predictions.cont
        power = jnp.arange(self.imagined)
        beyond = 0.0 if self.tail is None else self.tail(jax.tree.map(lambda leaf: leaf[-1], trajectory.states))
        if self.version == "paper":
            weights = (self.discount * cont) ** power
            if self.tail is not None:
                weights = weights * (power < self.imagined - 1)
            return jnp.sum(weights * costs) + beyond
        alive = jnp.cumprod(jnp.concatenate([jnp.ones(1), cont]))
        weights = self.discount**power * alive[:-1]
        return jnp.sum(weights * costs) + self.discount**self.imagined * alive[-1] * beyond


def _from_the_next_state(path: syntax.PathFormula) -> syntax.PathFormula:
    """The same demand on states 1..n, numbered from 0: every bound one step shorter, state 0 left out."""
    if isinstance(path, syntax.Next):
        return syntax.Eventually(path.operand, syntax.Steps(0, 0))
    steps: syntax.Steps = path.steps  # type: ignore[attr-defined]
    assert steps.upper is not None
    return dataclasses.replace(path, steps=syntax.Steps(max(steps.lower - 1, 0), steps.upper - 1))  # type: ignore[type-var]

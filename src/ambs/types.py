"""The contracts: what a model, a policy and a shield are. Everything else is written against these.

States and actions are opaque pytrees; nothing here knows what is inside. Everything is written for one example
and vmapped outside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

State = Any
Action = Any


class Prediction(NamedTuple):
    """What a model says about the state it has just entered.

    Attributes:
        cost: in [0, C]; 0 where the safety formula holds.
        cont: the probability that the episode goes on from this state, 0 or 1 where it is known.
        labels: atom → whether the state has it, if the model knows; else empty.
    """

    cost: Float[Array, "..."]
    cont: Float[Array, "..."]
    labels: Mapping[str, Bool[Array, "..."]]


@runtime_checkable
class Model(Protocol):
    """Anything that can be stepped: a table, a simulator, a learned world model."""

    def step(self, state: State, action: Action, *, key: PRNGKeyArray) -> tuple[State, Prediction]:
        """One transition: the next state, and what is predicted of it."""


@runtime_checkable
class Policy(Protocol):
    """Anything that can be asked for an action."""

    def sample(self, state: State, *, key: PRNGKeyArray) -> Action: ...


# The expected discounted cost beyond the horizon, from a state.
Tail = Callable[[State], Float[Array, ""]]


class Decision(NamedTuple):
    """What a shield decided, and on what grounds.

    Attributes:
        action: the action to play.
        overridden: whether it is the backup policy's rather than the proposed one.
        estimate: the share of traces that satisfied the formula.
        low: lower end of the interval for the probability, at the test's confidence.
        high: upper end.
        traces: how many traces were drawn for this decision.
    """

    action: Action
    overridden: Bool[Array, ""]
    estimate: Float[Array, ""]
    low: Float[Array, ""]
    high: Float[Array, ""]
    traces: Int[Array, ""]


@runtime_checkable
class Shield(Protocol):
    """Proposed action in, played action out."""

    def __call__(self, state: State, proposed: Action, *, key: PRNGKeyArray) -> Decision: ...

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
    """Anything that can be stepped: a table, a simulator, a learned world model.

    It may have more to say, which a shield then checks before it is used: `labels`, the atoms that it predicts;
    `has_costs`, false if the predicted costs mean nothing; `table_shape`, (states, actions) if it numbers them from 0.
    """

    def step(self, state: State, action: Action, *, key: PRNGKeyArray) -> tuple[State, Prediction]:
        """One transition: the next state, and what is predicted of it."""


@runtime_checkable
class Policy(Protocol):
    """Anything that can be asked for an action.

    It may have a `table_shape`, (states, actions) if it numbers them from 0, with None for what it does not number.
    """

    def sample(self, state: State, *, key: PRNGKeyArray) -> Action: ...


# The expected discounted cost beyond the horizon, from a state.
Tail = Callable[[State], Float[Array, ""]]


class Decision(NamedTuple):
    """What a shield decided, and on what grounds.

    Attributes:
        action: the action to play.
        overridden: whether it is the backup policy's rather than the proposed one.
        estimate: the share of traces that satisfied the formula, or the probability itself where it is known; NaN if
            nothing was asked, or if the model lost its mind.
        low: lower end of the interval for the probability, at the `confidence` of the shield (not of its test).
        high: upper end.
        traces: how many traces were drawn for this decision, or how many paths were searched; without those by which a
            backup policy finds its action once the decision is made.
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

"""What a penalty is: it changes how good the task policy's actions are held to be, by how safe they are.

A shield that only replaces actions teaches the task policy nothing: it goes on proposing what is refused. A penalty
changes the advantage that the policy learns by, and nothing else: the critic still learns the task's own returns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from jaxtyping import Array, Float

from ambs.behaviour.actor_critic import Imagined, Lesson
from ambs.behaviour.returns import ReturnScale
from ambs.behaviour.safety_critics import SafetyCritics
from ambs.errors import AmbsError

KINDS = ("critic", "plpg", "copt")

# Of the features of a state, written out or sparse.
OfState = Callable[[Any], Float[Array, "*shape"]]


@dataclass(frozen=True)
class PenaltyConfig:
    """Which penalty, and how much of it."""

    kind: str
    """critic, plpg or copt."""
    weight: float = 1.0
    """α of its formula."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise AmbsError(f'there is no penalty "{self.kind}"; choose one of none, {", ".join(KINDS)}.')
        if not 0 <= self.weight < float("inf"):
            raise AmbsError(f"the weight of the penalty is {self.weight:g}, and has to be a number of at least 0.")
        if self.kind == "copt" and self.weight > 1:
            raise AmbsError(
                f"the weight of the penalty is {self.weight:g}, and copt takes away at most all of an advantage: it "
                "has to be at most 1."
            )


class Judges(NamedTuple):
    """Who is asked how safe imagined states are."""

    cost: OfState
    """What entering a state costs, by the model."""
    safe: OfState
    """The probability that it does not break the formula, by the model."""
    critics: SafetyCritics
    """What the task policy's futures cost."""
    safe_value: OfState
    """What the safe policy's futures are worth: their cost, negated."""
    look_ahead: int
    """T of the shield."""


class Penalised(NamedTuple):
    """Advantages after a penalty."""

    advantage: Float[Array, "steps batch"]
    scale: ReturnScale
    """Of the returns of cost, where the penalty keeps one."""
    metrics: dict[str, Float[Array, ""]]


@runtime_checkable
class Penalty(Protocol):
    """The one interface: from what trajectories teach to what they teach with the penalty."""

    def __call__(
        self, lesson: Lesson, imagined: Imagined, judges: Judges, scale: ReturnScale, weight: float
    ) -> Penalised: ...

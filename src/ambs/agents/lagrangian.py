"""LAG, the paper's safety-aware baseline: DreamerV3 with an augmented-Lagrangian penalty on what its policy costs.

The constraint is that the task policy's discounted cost is at most d. The cost critics are those of AMBS; there is no
safe policy and no shield.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.agents.optimiser import OptimiserConfig, start
from ambs.agents.safety import Heads, learn_twins, observed
from ambs.behaviour.actor_critic import BehaviourConfig, Imagined, Lesson
from ambs.behaviour.multipliers import Multipliers
from ambs.behaviour.safety_critics import SafetyCritics
from ambs.errors import AmbsError, positive_integer
from ambs.world_model.sizes import Size


@dataclass(frozen=True)
class LagrangianConfig:
    """The paper's table of LAG."""

    lagrange: float = 1e-6
    """λ to begin with."""
    penalty: float = 5e-9
    """μ to begin with."""
    power: float = 1e-5
    """σ: by what share μ grows at every update."""
    look_ahead: int = 30
    """T."""
    violation_cost: float = 10.0
    """C, what breaking the formula costs."""
    threshold: float | None = None
    """d, what the policy may cost; C γ^T if not given, the cost of a violation in T steps."""
    critics: OptimiserConfig = field(default_factory=lambda: OptimiserConfig(3e-5, 1e-5, 100.0))
    expected: bool = False
    """Whether J^C is a mean of costs. The paper's is one in symlog space: where costs come by chance, a constraint that
    holds of it is broken in truth."""

    def __post_init__(self) -> None:
        positive_integer("the look-ahead", self.look_ahead)
        for name, value in (("the Lagrange multiplier", self.lagrange), ("the penalty power", self.power)):
            if not 0 <= value < float("inf"):
                raise AmbsError(f"{name} is {value:g}, and has to be a number of at least 0.")
        for name, value in (("the penalty multiplier", self.penalty), ("a violation's cost", self.violation_cost)):
            if not 0 < value < float("inf"):
                raise AmbsError(f"{name} is {value:g}, and has to be a number above 0.")
        if self.threshold is not None and not 0 <= self.threshold < self.violation_cost:
            raise AmbsError(
                f"the cost threshold is {self.threshold:g}, and has to be from 0 to below {self.violation_cost:g}, "
                "what a violation costs."
            )

    def allowed(self, discount: float) -> float:
        """d."""
        return self.violation_cost * discount**self.look_ahead if self.threshold is None else self.threshold


class Lagrangian(eqx.Module):
    """What LAG learns besides."""

    critics: SafetyCritics
    multipliers: Multipliers
    optimiser: Any

    @classmethod
    def create(
        cls, features: int, size: Size, behaviour: BehaviourConfig, config: LagrangianConfig, *, key: PRNGKeyArray
    ) -> Lagrangian:
        critics = SafetyCritics(
            features, size, behaviour, most=config.violation_cost, expected=config.expected, key=key
        )
        return cls(critics, Multipliers.start(config.lagrange, config.penalty), start(config.critics, critics.twins))


def constrained(
    me: Lagrangian, model: Heads, config: LagrangianConfig, lesson: Lesson, imagined: Imagined
) -> tuple[Lesson, tuple[Lagrangian, dict[str, Array]]]:
    """The lesson with the advantage of cost in it, and the multipliers after it.

        A' = (A - w A^C) / (1 + w),    w = max(0, λ + μ (J^C - d)),    A^C = R^C - V^C

    Divided by 1 + w so that a multiplier that grows changes the mixture and not the size of the steps.
    """
    critics = me.critics
    costs = observed(critics, model, imagined)[0]
    value = jax.lax.stop_gradient(jax.lax.map(critics.value, costs.features))
    excess = _mean(jax.lax.stop_gradient(costs.target), costs.weight) - config.allowed(critics.config.discount)
    weight = me.multipliers.slope(excess)
    advantage = (lesson.advantage - weight * (costs.target - value)) / (1 + weight)
    after = eqx.tree_at(lambda me: me.multipliers, me, me.multipliers.update(excess, config.power))
    metrics = {
        "lagrangian/multiplier": after.multipliers.lagrange,
        "lagrangian/penalty": after.multipliers.penalty,
        "lagrangian/excess": excess,
    }
    return lesson._replace(advantage=advantage), (after, metrics)


def learn_lagrangian(
    me: Lagrangian, model: Heads, imagined: Imagined, config: LagrangianConfig
) -> tuple[Lagrangian, dict[str, Array]]:
    """One gradient step of the critics."""
    costs, _ = observed(me.critics, model, imagined)
    critics, optimiser, loss = learn_twins(me.critics, costs, config.critics, me.optimiser)
    metrics = {"safety/critics_loss": loss, "safety/cost": costs.target.mean()}
    return Lagrangian(critics, me.multipliers, optimiser), metrics


def _mean(values: Float[Array, "steps batch"], weight: Float[Array, "steps batch"]) -> Float[Array, ""]:
    """Of states that the policy gets to."""
    return (values * weight).sum() / weight.sum().clip(1e-6)

"""Penalty critic: the task's advantage less that of cost.

    A' = (A - α A^C) / (1 + α),    A^C_t = (R^C_t - V^C(s_t)) / max(1, S^C)

R^C is the λ-return of cost and V^C the safety critics, under the safety discount; S^C is the range of such returns, as
S is of the task's. The sum is divided by 1 + α, so that α changes the mixture and not the size of the steps.
"""

from __future__ import annotations

import jax

from ambs.behaviour.actor_critic import Imagined, Lesson
from ambs.behaviour.penalties.base import Judges, Penalised
from ambs.behaviour.returns import ReturnScale
from ambs.behaviour.safety_critics import goes_on


def penalty_critic(
    lesson: Lesson, imagined: Imagined, judges: Judges, scale: ReturnScale, weight: float
) -> Penalised:  # fmt: skip
    critics, config = judges.critics, judges.critics.config
    cost, safe = jax.lax.map(lambda row: (judges.cost(row), judges.safe(row)), imagined.features[1:])
    counted = goes_on(safe, imagined.cont) if critics.bounded else imagined.cont
    returns = critics.lesson(imagined.features, cost, counted, lesson.weight).target
    value = jax.lax.stop_gradient(jax.lax.map(critics.value, imagined.features[:-1]))
    scale = scale.update(jax.lax.stop_gradient(returns), config.scale_decay)
    dearer = (returns - value) / scale(config.scale_limit)
    advantage = (lesson.advantage - weight * dearer) / (1 + weight)
    return Penalised(advantage, scale, {"penalty_cost": returns.mean()})

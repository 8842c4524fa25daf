"""COPT, counter-example guided policy optimisation: nothing is learned from what comes before a violation.

    A'_t = A_t (1 - α σ(k (J_t - γ^T C))),    J_t = c(s_{t+1}) + γ cont(s_{t+1}) J_{t+1},    J_H = V^C(s_H)

J is the discounted cost of the rest of the trace, beyond H by the safety critics, and γ^T C what the authors' code
refuses it for (the paper says γ^(T-1) C): a counter-example is a trace that costs more. σ with k = 10 is a soft "more
than"; no gradient passes it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ambs.behaviour.actor_critic import Imagined, Lesson
from ambs.behaviour.penalties.base import Judges, Penalised
from ambs.behaviour.returns import ReturnScale, lambda_returns

_STEEPNESS = 10.0


def copt(lesson: Lesson, imagined: Imagined, judges: Judges, scale: ReturnScale, weight: float) -> Penalised:
    critics = judges.critics
    discount, most = critics.config.discount, critics.most
    cost = jax.lax.map(lambda row: jnp.clip(judges.cost(row), 0.0, most), imagined.features[1:])
    beyond = jnp.broadcast_to(critics.value(imagined.features[-1])[None], cost.shape)
    # With λ = 1 of the values only the last counts.
    rest = lambda_returns(cost, discount * imagined.cont, beyond, 1.0)
    counter_example = jax.lax.stop_gradient(jax.nn.sigmoid(_STEEPNESS * (rest - discount**judges.look_ahead * most)))
    return Penalised(
        lesson.advantage * (1 - weight * counter_example), scale, {"penalty_counter_examples": counter_example.mean()}
    )

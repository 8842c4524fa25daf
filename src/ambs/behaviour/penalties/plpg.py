"""PLPG, the probabilistic logic policy gradient: an action counts as much as it is likely to be safe.

    A'_t = p_t A_t + α ln p_t,    p_t = exp(min(0, δ_t)) in [10^-6, 1]
    δ_t  = -c(s_{t+1}) + cont(s_{t+1}) V(s_{t+1}) - V(s_t)

V is the value of the safe policy, whose reward is the negated cost: δ is how much dearer the action is than what the
safe policy would have done. The second term is the safety loss of PLPG, -ln P(safe | s), for the one action that was
drawn: by Jensen's inequality -ln E[p] is at most E[-ln p], which is what this minimises.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ambs.behaviour.actor_critic import Imagined, Lesson
from ambs.behaviour.penalties.base import Judges, Penalised
from ambs.behaviour.returns import ReturnScale

_LEAST = 1e-6


def plpg(lesson: Lesson, imagined: Imagined, judges: Judges, scale: ReturnScale, weight: float) -> Penalised:
    cost = jax.lax.map(judges.cost, imagined.features[1:])
    value = jax.lax.map(judges.safe_value, imagined.features)
    dearer = -cost + imagined.cont * value[1:] - value[:-1]
    log_safe = jnp.clip(dearer, jnp.log(_LEAST), 0.0)
    safe = jnp.exp(log_safe)
    return Penalised(safe * lesson.advantage + weight * log_safe, scale, {"penalty_safe": safe.mean()})

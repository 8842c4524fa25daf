"""What was really met teaches the finite-horizon critic too, though other policies than the task policy met it.

In every state of a replayed sequence the task policy is asked anew. Where it draws the action that was played, what
followed is a fair sample of what would follow, whoever played it then; where it draws another, the model imagines that
step, and the slow copy tells the rest:

    target_k(s_t) = v(s_{t+1}) + g(s_{t+1}) target_{k-1}(s_{t+1})      if a ~ π(s_t) is the action that was played
                    v(s') + g(s') q_{k-1}(s'),    s' imagined          if it is not

That is the tree backup of off-policy learning, drawn instead of summed up: no probabilities of those who played are
needed, and what they would never have done is not held against the policy. (It takes the inferred state to tell all
that they knew: of what came before a sequence it does not.) Continuous actions never meet again; there this is one
imagined step from every real state.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.behaviour.actor import Actor
from ambs.behaviour.safety_critics import CostLesson, goes_on
from ambs.behaviour.violation_critic import Detour, ViolationCritic
from ambs.world_model.model import Sequences, WorldModel, WorldState
from ambs.world_model.rssm import without_gradient


def replayed(
    critic: ViolationCritic, model: WorldModel, actor: Actor, states: WorldState, batch: Sequences, *, key: PRNGKeyArray
) -> CostLesson:
    """Of all rows of the sequences but the last, time first; `states` are those that the model inferred of them."""
    states, batch = jax.tree.map(lambda each: jnp.swapaxes(each, 0, 1), (without_gradient(states), batch))
    here, entered = jax.tree.map(lambda each: each[:-1], states), jax.tree.map(lambda each: each[1:], batch)
    choose, move = jax.random.split(key)
    drawn = actor.sample(here, key=choose)
    other = model.imagine(here, drawn, key=move).features
    safe, cont = model.predict_safe(other), model.predict_continue(other)
    target = _one_step(critic, other, 1 - safe, goes_on(safe, cont))
    # Where another episode begins, what would have followed is not known either.
    taken = jnp.any(drawn != entered.action, axis=-1) | entered.is_first
    violates = entered.cost > 0
    alive = ~(violates | entered.is_terminal)
    found = critic.targets(
        states.features, violates.astype(jnp.float32), alive.astype(jnp.float32), Detour(taken, target)
    )
    return CostLesson(here.features, found, (~batch.is_terminal[:-1]).astype(jnp.float32))


def _one_step(
    critic: ViolationCritic, entered: Any, violates: Float[Array, "steps batch"], alive: Float[Array, "steps batch"]
) -> Float[Array, "steps batch k"]:
    """Targets of the states from which each of these was entered."""

    def of(row: tuple[Any, Array, Array]) -> Float[Array, "batch k"]:
        features, v, g = jax.tree.map(lambda each: each[None], row)
        return critic.targets(features, v, g)[0]

    return jax.lax.map(of, (entered, violates, alive))

"""Behaviour learns in imagination: the policy is rolled out in the model, and what happens there teaches it.

Choices learn by their outcomes (REINFORCE): trajectories are imagined without a gradient, and the losses are then
summed up a time step at a time. Continuous actions learn by the gradient through the model itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.behaviour.actor import Actor
from ambs.behaviour.actor_critic import ActorCritic, Imagined, Lesson
from ambs.behaviour.returns import ReturnScale
from ambs.shield.imagine import imagine
from ambs.world_model.model import WorldModel, WorldState
from ambs.world_model.rssm import without_gradient

# What changes a lesson, by what was imagined, before the actor learns from it; and what it has to say besides.
Change = Callable[[Lesson, Imagined], tuple[Lesson, Any]]

# The features of a state to what the policy maximises there.
Signal = Callable[[Any], Float[Array, "*shape"]]


def roll_out(
    model: WorldModel,
    actor: Actor,
    starts: WorldState,
    alive: Bool[Array, " batch"],
    horizon: int,
    signal: Signal,
    *,
    key: PRNGKeyArray,
) -> Imagined:
    """The policy in the model from many states at once, time first, with what the heads say of every state entered."""
    keys = jax.random.split(key, alive.size)
    begin = without_gradient(starts) if actor.discrete else starts
    rolled = jax.vmap(lambda state, key: imagine(model, actor, state, horizon, key=key), out_axes=1)(begin, keys)
    entered = rolled.states.features
    rewards, cont = jax.lax.map(lambda row: (signal(row), model.predict_continue(row)), entered)
    features = jax.tree.map(lambda one, many: jnp.concatenate([one[None], many]), begin.features, entered)
    return Imagined(features, rolled.actions, rewards, cont, alive.astype(jnp.float32))


class Taught(NamedTuple):
    """What a dream has taught."""

    actor: Actor
    """Gradient of the actor's loss."""
    critic: Any
    """Gradient of the critic's loss."""
    scale: ReturnScale
    """Of returns, with those of the dream."""
    imagined: Imagined
    """The dream."""
    metrics: dict[str, Array]
    besides: Any
    """What `change` said."""


def unchanged(lesson: Lesson, imagined: Imagined) -> tuple[Lesson, Any]:
    return lesson, None


def gradients(behaviour: ActorCritic, dream: Callable[[Actor], Imagined], change: Change = unchanged) -> Taught:
    """What `dream`, which rolls an actor out, teaches actor and critic; `change` may have a say in that."""
    if behaviour.actor.discrete:
        imagined = jax.lax.stop_gradient(dream(behaviour.actor))
        lesson, scale = behaviour.lesson(imagined)
        lesson, besides = change(lesson, imagined)
        (loss, entropy), actor = by_rows(ActorCritic.actor_loss, behaviour, lambda me: me.actor, lesson)
    else:
        (loss, (entropy, lesson, scale, imagined, besides)), actor = _through_the_model(behaviour, dream, change)
    (critic_loss, _), critic = by_rows(
        lambda me, row: (me.critic_loss(row), ()), behaviour, lambda me: me.critic, jax.lax.stop_gradient(lesson)
    )
    metrics = {
        "actor_loss": loss,
        "critic_loss": critic_loss,
        "return": lesson.returns.mean(),
        "scale": scale(behaviour.config.scale_limit),
        "entropy": entropy,
    }
    return Taught(actor, critic, scale, jax.lax.stop_gradient(imagined), metrics, besides)


def _through_the_model(behaviour: ActorCritic, dream: Callable[[Actor], Imagined], change: Change) -> Any:
    @eqx.filter_value_and_grad(has_aux=True)
    def loss(actor: Actor) -> tuple[Array, Any]:
        acting = eqx.tree_at(lambda me: me.actor, behaviour, actor)
        imagined = dream(actor)
        lesson, scale = acting.lesson(imagined)
        lesson, besides = change(lesson, imagined)
        value, entropy = acting.actor_loss(lesson)
        return value, (entropy, lesson, scale, imagined, besides)

    return loss(behaviour.actor)


def by_rows(
    loss: Callable[[Any, Any], tuple[Array, Any]], learner: Any, part: Callable[[Any], Any], lesson: Any
) -> Any:
    """The mean of `loss(learner, row)` over the rows of a lesson, with its gradient for one part, a row at a time.

    All rows at once would be the same numbers, and as many activations as do not fit a processor's cache.
    """

    def one(row: Any) -> Any:
        @eqx.filter_value_and_grad(has_aux=True)
        def of(net: Any) -> tuple[Array, Any]:
            return loss(eqx.tree_at(part, learner, net), row)

        return of(part(learner))

    def add(total: Any, row: Any) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, one(row)), None

    shapes = jax.eval_shape(one, jax.tree.map(lambda each: each[0], lesson))
    nothing = jax.tree.map(lambda each: jnp.zeros(each.shape, each.dtype), shapes)
    total, _ = jax.lax.scan(add, nothing, lesson)
    rows = jax.tree.leaves(lesson)[0].shape[0]
    return jax.tree.map(lambda each: each / rows, total)

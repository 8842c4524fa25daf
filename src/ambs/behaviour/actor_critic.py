"""Actor and critic that learn from imagined trajectories; one class, given the signal it maximises.

The task policy maximises predicted reward; the safe policy is a second instance, for negated cost.

    actor    -(R_t - v_t) / max(1, S) ln π(a_t | s_t) - η H[π(· | s_t)]       (choices)
             -(R_t - v_t) / max(1, S)                  - η H[π(· | s_t)]       (continuous: through the model to R_t)
    critic   -ln p(R_t | s_t), and towards its own slow copy
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.behaviour.actor import Actor
from ambs.behaviour.returns import ReturnScale, lambda_returns
from ambs.behaviour.slow import follow
from ambs.world_model.layers import MLP
from ambs.world_model.numbers import BINS, TwoHot
from ambs.world_model.sizes import Size
from ambs.world_model.sparse import Sparse


@dataclass(frozen=True)
class BehaviourConfig:
    """The paper's table of the actor-critic."""

    horizon: int = 15
    """H, steps imagined."""
    discount: float = 0.997
    """γ."""
    lambda_: float = 0.95
    """λ."""
    entropy: float = 3e-4
    """η, the weight of the policy's entropy."""
    slow_decay: float = 0.98
    """What is left of the slow critic at each update."""
    slow_regulariser: float = 1.0
    """The weight of the critic's pull towards its slow copy."""
    scale_decay: float = 0.99
    scale_limit: float = 1.0


class Imagined(NamedTuple):
    """A batch of imagined trajectories, time first: states 0..H, the actions 0..H-1 and what was entered at 1..H."""

    features: Float[Array, "states batch features"] | Sparse
    actions: Float[Array, "steps batch actions"]
    signal: Float[Array, "steps batch"]
    cont: Float[Array, "steps batch"]
    alive: Float[Array, " batch"]
    """0 where state 0 is the end of an episode: nothing follows there, whatever is imagined."""


class Lesson(NamedTuple):
    """What is to be learned of states that a policy passed through; any shape, the last axis theirs."""

    features: Float[Array, "*shape features"] | Sparse
    actions: Float[Array, "*shape actions"]
    returns: Float[Array, "*shape"]
    """λ-returns, the target of the critic."""
    advantage: Float[Array, "*shape"]
    """How much better than expected, in units of the returns' scale."""
    weight: Float[Array, "*shape"]
    """What lies beyond a predicted end counts less."""


class ActorCritic(eqx.Module):
    """π and v, v's slow copy, and the scale of returns."""

    actor: Actor
    critic: MLP
    slow: MLP
    scale: ReturnScale
    config: BehaviourConfig = eqx.field(static=True)

    def __init__(
        self, features: int, actions: int, size: Size, config: BehaviourConfig, *, discrete: bool, key: PRNGKeyArray
    ) -> None:
        first, second = jax.random.split(key)
        self.actor = Actor(features, actions, size, discrete=discrete, key=first)
        self.critic = MLP(features, (BINS,), units=size.units, layers=size.layers, scale=0.0, key=second)
        # A copy: buffers that are the same could not be given up to the compiled step together.
        self.slow = jax.tree.map(jnp.copy, self.critic)
        self.scale = ReturnScale.start()
        self.config = config

    def lesson(self, imagined: Imagined) -> tuple[Lesson, ReturnScale]:
        """What the trajectories teach, and the scale of returns with them; differentiable for continuous actions."""
        config = self.config
        # A time step at a time: the activations of all at once would not fit a processor's cache.
        value = jax.lax.map(lambda row: TwoHot(self.critic(row)).mean, imagined.features)
        returns = lambda_returns(imagined.signal, config.discount * imagined.cont, value[1:], config.lambda_)
        scale = self.scale.update(jax.lax.stop_gradient(returns), config.scale_decay)
        advantage = (returns - jax.lax.stop_gradient(value[:-1])) / scale(config.scale_limit)
        weight = weights(imagined.alive, imagined.cont, config.discount)
        return Lesson(imagined.features[:-1], imagined.actions, returns, advantage, weight), scale

    def actor_loss(self, lesson: Lesson) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """The loss, and the policy's mean entropy."""
        still = jax.lax.stop_gradient
        policy = self.actor(still(lesson.features))
        entropy = policy.entropy()
        gain = lesson.advantage
        if self.actor.discrete:
            gain = still(gain) * policy.log_prob(still(lesson.actions))
        return -(lesson.weight * (gain + self.config.entropy * entropy)).mean(), entropy.mean()

    def critic_loss(self, lesson: Lesson) -> Float[Array, ""]:
        still = jax.lax.stop_gradient
        features = still(lesson.features)
        guess = TwoHot(self.critic(features))
        slow = still(TwoHot(self.slow(features)).mean)
        loss = guess.loss(still(lesson.returns)) + self.config.slow_regulariser * guess.loss(slow)
        return (lesson.weight * loss).mean()

    def follow(self) -> ActorCritic:
        """The slow critic, one update later."""
        return eqx.tree_at(lambda me: me.slow, self, follow(self.slow, self.critic, self.config.slow_decay))


def weights(
    alive: Float[Array, " batch"], cont: Float[Array, "steps batch"], discount: float
) -> Float[Array, "steps batch"]:
    """How much states 0..H-1 count: those beyond an end count less, as likely as it is predicted."""
    return jax.lax.stop_gradient(jnp.cumprod(jnp.concatenate([alive[None], discount * cont[:-1]]), axis=0))

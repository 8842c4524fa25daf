"""Actor and critic that learn from imagined trajectories; one class, given the signal it maximises.

The task policy maximises predicted reward; the safe policy is a second instance, for negated cost.

    actor    -(R_t - v_t) / max(1, S) ln π(a_t | s_t) - η H[π(· | s_t)]       (choices)
             -R_t / max(1, S)                          - η H[π(· | s_t)]       (continuous: through the model)
    critic   -ln p(R_t | s_t), and towards its own slow copy
"""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.behaviour.actor import Actor
from ambs.behaviour.returns import ReturnScale, lambda_returns
from ambs.world_model.layers import MLP
from ambs.world_model.numbers import BINS, TwoHot
from ambs.world_model.sizes import Size


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


class Imagined(eqx.Module):
    """A batch of imagined trajectories, time first: states 0..H, the actions 0..H-1 and what was entered at 1..H."""

    features: Float[Array, "states batch features"]
    actions: Float[Array, "steps batch actions"]
    signal: Float[Array, "steps batch"]
    cont: Float[Array, "steps batch"]


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

    def returns(self, imagined: Imagined) -> tuple[Float[Array, "steps batch"], Float[Array, "states batch"]]:
        """λ-returns from states 0..H-1, and the values of states 0..H."""
        value = TwoHot(self.critic(imagined.features)).mean
        config = self.config
        discount = config.discount * imagined.cont
        return lambda_returns(imagined.signal, discount, value[1:], config.lambda_), value

    def actor_loss(self, imagined: Imagined) -> tuple[Float[Array, ""], dict[str, Array], ReturnScale]:
        config, still = self.config, jax.lax.stop_gradient
        returns, value = self.returns(imagined)
        scale = self.scale.update(still(returns), config.scale_decay)
        policy = self.actor(still(imagined.features[:-1]))
        entropy = policy.entropy()
        if self.actor.discrete:
            advantage = still(returns - value[:-1]) / scale(config.scale_limit)
            gain = advantage * policy.log_prob(still(imagined.actions))
        else:
            gain = returns / still(scale(config.scale_limit))
        loss = -(weights(imagined, config.discount) * (gain + config.entropy * entropy)).mean()
        metrics = {"return": returns.mean(), "entropy": entropy.mean(), "scale": scale(config.scale_limit)}
        return loss, metrics, scale

    def critic_loss(self, imagined: Imagined) -> Float[Array, ""]:
        still, config = jax.lax.stop_gradient, self.config
        returns, _ = still(self.returns(imagined))
        features = still(imagined.features[:-1])
        guess = TwoHot(self.critic(features))
        slow = still(TwoHot(self.slow(features)).mean)
        loss = guess.loss(returns) + config.slow_regulariser * guess.loss(slow)
        return (weights(imagined, config.discount) * loss).mean()

    def follow(self) -> ActorCritic:
        """The slow critic, one update later."""
        decay = self.config.slow_decay
        slow = jax.tree.map(
            lambda old, new: decay * old + (1 - decay) * new if eqx.is_array(old) else old, self.slow, self.critic
        )
        return eqx.tree_at(lambda me: me.slow, self, slow)


def weights(imagined: Imagined, discount: float) -> Float[Array, "steps batch"]:
    """How much states 0..H-1 count: what lies beyond a predicted end counts less."""
    return jax.lax.stop_gradient(
        jnp.cumprod(jnp.concatenate([jnp.ones_like(imagined.cont[:1]), discount * imagined.cont[:-1]]), axis=0)
    )

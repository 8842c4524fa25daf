"""What Rainbow and IQN learn, and one gradient step of it."""

from __future__ import annotations

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ambs.agents.optimiser import start, update
from ambs.value_agents import networks
from ambs.value_agents.acting import expected, values
from ambs.value_agents.config import ValueConfig
from ambs.value_agents.distributions import cross_entropy, entropy, project, quantile_huber, support
from ambs.value_agents.form import Form
from ambs.value_agents.networks import Network, QuantileNet, RainbowNet
from ambs.world_model.parts import Part

# Added to errors, so that what was learned well is still replayed now and then.
LEAST_ERROR = 1e-6


class Transitions(NamedTuple):
    """What a gradient step learns from, a row an example."""

    frames: Array
    """`[batch, stack, *observation]`, where the action was taken."""
    action: Int[Array, " batch"]
    reward: Float[Array, " batch"]
    """R, the discounted sum of the rewards that followed."""
    discount: Float[Array, " batch"]
    """What the value of `later` counts: γ to the number of those rewards, 0 where the episode has terminated."""
    later: Array
    """The frames after those rewards."""
    weight: Float[Array, " batch"]
    """What the example counts, to make up for how often it is drawn."""


class Apart(eqx.Module):
    """Everything that changes by learning, each weight under its own name: as checkpoints have it."""

    online: Network
    target: Network
    optimiser: optax.OptState
    updates: Int[Array, ""]


class ValueLearner(eqx.Module):
    """The same as vectors, each with all weights end to end."""

    weights: Float[Array, " weights"]
    target_weights: Float[Array, " weights"]
    optimiser: optax.OptState
    updates: Int[Array, ""]
    form: Form = eqx.field(static=True)

    @classmethod
    def create(cls, part: Part, actions: int, config: ValueConfig, *, key: PRNGKeyArray) -> ValueLearner:
        online = networks.make(part, actions, config, key=key)
        form = Form.of(online)
        weights = form.pack(online)
        return cls(weights, weights, start(config.optimiser, weights), jnp.zeros((), jnp.int32), form)

    @property
    def online(self) -> Network:
        return self.form.unpack(self.weights)

    @property
    def target(self) -> Network:
        return self.form.unpack(self.target_weights)

    def apart(self) -> Apart:
        moments = jax.tree.map(lambda leaf: self.form.unpack(leaf) if leaf.ndim else leaf, self.optimiser)
        return Apart(self.online, self.target, moments, self.updates)

    def together(self, apart: Apart) -> ValueLearner:
        """Of the same form as this one."""
        pack = self.form.pack
        # Where this one has a vector, the other has a network.
        moments = jax.tree.map(lambda mine, its: pack(its) if mine.ndim else its, self.optimiser, apart.optimiser)
        return ValueLearner(pack(apart.online), pack(apart.target), moments, apart.updates, self.form)


def learn(
    learner: ValueLearner, batch: Transitions, config: ValueConfig, target_every: int, *, key: PRNGKeyArray
) -> tuple[ValueLearner, Float[Array, " batch"], dict[str, Array]]:
    """One gradient step; the examples' new priorities, and metrics.

    Args:
        learner: Before it.
        batch: What to learn from.
        config: Of the agent.
        target_every: Gradient steps after which the target network is the online one again.
        key: Of noise and quantiles.
    """

    target = learner.target

    @eqx.filter_value_and_grad(has_aux=True)
    def loss(online: Network) -> tuple[Array, tuple[Array, Array]]:
        losses, errors, value = _losses(online, target, batch, config, key=key)
        return jnp.mean(batch.weight * losses), (errors, value)

    (total, (errors, value)), gradient = loss(learner.online)
    changed, optimiser, norm = update(
        config.optimiser, learner.weights, learner.form.pack(gradient), learner.optimiser
    )  # fmt: skip
    updates = learner.updates + 1
    aim = jnp.where(updates % target_every == 0, changed, learner.target_weights)
    metrics = {"loss": total, "value": value.mean(), "error": errors.mean(), "gradient": norm}
    later = ValueLearner(changed, aim, optimiser, updates, learner.form)
    return later, (errors + LEAST_ERROR) ** config.exponent, metrics


def _losses(
    online: Network, target: Network, batch: Transitions, config: ValueConfig, *, key: PRNGKeyArray
) -> tuple[Float[Array, " batch"], Float[Array, " batch"], Float[Array, " batch"]]:
    """Losses, errors (of which priorities are made) and values. Noise is drawn once a batch, quantiles for each."""
    if isinstance(online, RainbowNet):
        assert isinstance(target, RainbowNet)
        return jax.vmap(lambda one: _rainbow(online, target, one, config, key=key))(batch)
    assert isinstance(target, QuantileNet)
    keys = jax.random.split(key, len(batch.action))
    return jax.vmap(lambda one, its: _quantiles(online, target, one, config, key=its))(batch, keys)


def best_action(
    online: Network, target: Network, frames: Array, config: ValueConfig, *, key: PRNGKeyArray
) -> Int[Array, ""]:
    """The action whose value is learned from: the target's own best or, if double, what the online network would do."""
    return values(online if config.has("double") else target, frames, config, key).argmax()


def _rainbow(
    online: RainbowNet, target: RainbowNet, one: Transitions, config: ValueConfig, *, key: PRNGKeyArray
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """Of one example."""
    now, chosen, then = jax.random.split(key, 3)
    given = online(one.frames, now)
    # Who chooses is told by another draw of noise than who judges; if that is the same network, by the same draw.
    action = best_action(online, target, one.later, config, key=chosen if config.has("double") else then)
    value = expected(given, config)[one.action]
    if not config.has("distributional"):
        goal = one.reward + one.discount * target(one.later, then)[action, 0]
        error = jax.lax.stop_gradient(goal) - value
        return optax.losses.huber_loss(error), jnp.abs(error), value
    atoms = support(config.atoms, config.most_value)
    goal = project(jax.nn.softmax(target(one.later, then)[action]), atoms, one.reward, one.discount)
    goal = jax.lax.stop_gradient(goal)
    loss = cross_entropy(goal, given[one.action])
    # The Kullback-Leibler divergence: what of the loss could be learned away.
    return loss, jnp.maximum(loss - entropy(goal), 0), value


def _quantiles(
    online: QuantileNet, target: QuantileNet, one: Transitions, config: ValueConfig, *, key: PRNGKeyArray
) -> tuple[Float[Array, ""], Float[Array, ""], Float[Array, ""]]:
    """Of one example."""
    now, chosen, then = jax.random.split(key, 3)
    sizes = config.quantiles
    action = best_action(online, target, one.later, config, key=chosen)
    taus = jax.random.uniform(now, (sizes.taus,))
    given = online(one.frames, taus)[:, one.action]
    goals = target(one.later, jax.random.uniform(then, (sizes.target_taus,)))[:, action]
    goals = jax.lax.stop_gradient(one.reward + one.discount * goals)
    return (
        quantile_huber(given, taus, goals, sizes.kappa),
        jnp.abs(goals.mean() - given.mean()),
        given.mean(),
    )

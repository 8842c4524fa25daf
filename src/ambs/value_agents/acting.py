"""How Rainbow and IQN act: the action of the highest value; explored by noisy weights, or now and then at random."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ambs.value_agents.config import ValueConfig
from ambs.value_agents.distributions import support
from ambs.value_agents.networks import Network, QuantileNet, RainbowNet


def expected(logits: Float[Array, "actions atoms"], config: ValueConfig) -> Float[Array, " actions"]:
    """The actions' values, from what Rainbow's network gives."""
    if not config.has("distributional"):
        return logits[:, 0]
    return jax.nn.softmax(logits) @ support(config.atoms, config.most_value)


def values(network: Network, frames: Array, config: ValueConfig, key: PRNGKeyArray | None) -> Float[Array, " actions"]:
    """The actions' values for one example; without a key, of noiseless weights or of evenly spread quantiles."""
    if isinstance(network, RainbowNet):
        return expected(network(frames, key), config)
    return _mean_quantile(network, frames, config.quantiles.action_taus, key)


def _mean_quantile(
    network: QuantileNet, frames: Array, count: int, key: PRNGKeyArray | None
) -> Float[Array, " actions"]:
    even = (jnp.arange(count, dtype=jnp.float32) + 0.5) / count
    return network(frames, even if key is None else jax.random.uniform(key, (count,))).mean(axis=0)


@eqx.filter_jit
def act(
    network: Network, frames: Array, config: ValueConfig, epsilon: Float[Array, ""], *, key: PRNGKeyArray,
    greedy: bool = False,
) -> Int[Array, " envs"]:  # fmt: skip
    """An action an environment, from stacks of frames `[envs, stack, *observation]`.

    Explored: the noise is drawn anew, and with probability ε the action is any. `greedy` leaves nothing to chance.
    """
    return _chosen(network, frames, config, epsilon, key=key, greedy=greedy)[0]


@eqx.filter_jit
def act_ranked(
    network: Network, frames: Array, config: ValueConfig, epsilon: Float[Array, ""], *, key: PRNGKeyArray,
    greedy: bool = False,
) -> tuple[Int[Array, " envs"], Float[Array, "envs actions"]]:  # fmt: skip
    """As `act`, and the values of all actions that it was chosen by, for whoever asks what would be next-best."""
    return _chosen(network, frames, config, epsilon, key=key, greedy=greedy)


def _chosen(
    network: Network, frames: Array, config: ValueConfig, epsilon: Float[Array, ""], *, key: PRNGKeyArray, greedy: bool
) -> tuple[Int[Array, " envs"], Float[Array, "envs actions"]]:
    draw, coin, other = jax.random.split(key, 3)
    chosen_by = None if greedy else draw
    best = jax.vmap(lambda one: values(network, one, config, chosen_by))(frames)
    chosen = best.argmax(axis=1)
    if greedy:
        return chosen, best
    anything = jax.random.randint(other, chosen.shape, 0, best.shape[1], dtype=chosen.dtype)
    return jnp.where(jax.random.uniform(coin, chosen.shape) < epsilon, anything, chosen), best


def see(frames: np.ndarray, observation: np.ndarray, is_first: Bool[np.ndarray, " envs"]) -> np.ndarray:
    """The stacks `[envs, stack, *observation]` with one more frame at their end; zeros before an episode's first."""
    later = np.concatenate([frames[:, 1:], observation[:, None]], axis=1).astype(frames.dtype, copy=False)
    later[is_first, :-1] = 0
    return later

"""λ-returns of imagined trajectories, and the running scale that makes them comparable across tasks."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def lambda_returns(
    reward: Float[Array, "time *shape"],
    discount: Float[Array, "time *shape"],
    value: Float[Array, "time *shape"],
    lambda_: float,
) -> Float[Array, "time *shape"]:
    """R_t for t = 0..H-1, from what was entered at 1..H:

    R_t = r_{t+1} + γ_{t+1} ((1 - λ) v_{t+1} + λ R_{t+1}),    R_H = v_H
    """

    def back(following: Array, row: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        r, gamma, v = row
        here = r + gamma * ((1 - lambda_) * v + lambda_ * following)
        return here, here

    _, returns = jax.lax.scan(back, value[-1], (reward, discount, value), reverse=True)
    return returns


class ReturnScale(eqx.Module):
    """The range from the 5th to the 95th percentile of returns, averaged over time, and never below a limit.

    Only large returns are scaled down: dividing small ones up would amplify the noise of tasks with sparse rewards.
    """

    low: Float[Array, ""]
    high: Float[Array, ""]

    @classmethod
    def start(cls) -> ReturnScale:
        return cls(jnp.zeros(()), jnp.zeros(()))

    def update(self, returns: Float[Array, "..."], decay: float = 0.99) -> ReturnScale:
        low, high = jnp.percentile(returns, jnp.array([5.0, 95.0]))
        return ReturnScale(decay * self.low + (1 - decay) * low, decay * self.high + (1 - decay) * high)

    def __call__(self, limit: float = 1.0) -> Float[Array, ""]:
        return jnp.maximum(self.high - self.low, limit)

"""The augmented Lagrangian of one constraint: minimise f where g <= 0.

    Ψ(g; λ, μ) = λ g + μ g² / 2    where λ + μ g >= 0,    and -λ² / 2μ elsewhere

Its slope in g is max(0, λ + μ g): so much does the cost count beside the reward. After every update that slope becomes
the new λ, and μ grows: a constraint that stays broken counts more and more.
"""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

# What μ grows to and no further: beyond it, one batch of imagined costs would move λ by more than they are worth.
_MOST = 1.0


class Multipliers(eqx.Module):
    """λ, the Lagrange multiplier, and μ, the penalty multiplier."""

    lagrange: Float[Array, ""]
    penalty: Float[Array, ""]

    @classmethod
    def start(cls, lagrange: float, penalty: float) -> Multipliers:
        return cls(jnp.asarray(lagrange, jnp.float32), jnp.asarray(penalty, jnp.float32))

    def slope(self, excess: Float[Array, ""]) -> Float[Array, ""]:
        """dΨ/dg, where g is `excess`."""
        return jnp.maximum(0.0, self.lagrange + self.penalty * excess)

    def update(self, excess: Float[Array, ""], power: float) -> Multipliers:
        """λ' = max(0, λ + μ g), μ' = μ (1 + σ), where σ is `power`; μ never falls, and stops at 1."""
        grown = jnp.maximum(self.penalty, jnp.minimum(self.penalty * (1 + power), _MOST))
        return Multipliers(self.slope(excess), grown)

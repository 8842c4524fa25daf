"""Values as distributions: on fixed atoms (C51), and by quantiles (IQN). For one example; batches by `jax.vmap`."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def support(atoms: int, most: float) -> Float[Array, " atoms"]:
    """The atoms z, evenly from -most to most."""
    return jnp.linspace(-most, most, atoms)


def project(
    probabilities: Float[Array, " atoms"], atoms: Float[Array, " atoms"], reward: Float[Array, ""],
    discount: Float[Array, ""],
) -> Float[Array, " atoms"]:  # fmt: skip
    """The distribution of r + γ Z on the atoms of Z.

    What falls between two atoms is shared by how near it is to each, and what falls outside goes to the last:

        m_i = Σ_j p_j max(0, 1 - |clip(r + γ z_j) - z_i| / Δz)
    """
    gap = (atoms[-1] - atoms[0]) / (len(atoms) - 1)
    moved = jnp.clip(reward + discount * atoms, atoms[0], atoms[-1])
    shares = jnp.clip(1 - jnp.abs(moved[None, :] - atoms[:, None]) / gap, 0, 1)
    return shares @ probabilities


def cross_entropy(target: Float[Array, " atoms"], logits: Float[Array, " atoms"]) -> Float[Array, ""]:
    """-Σ_i m_i log p_i."""
    return -jnp.sum(target * jax.nn.log_softmax(logits))


def entropy(target: Float[Array, " atoms"]) -> Float[Array, ""]:
    """-Σ_i m_i log m_i, with 0 log 0 = 0."""
    return -jnp.sum(jax.scipy.special.xlogy(target, target))


def quantile_huber(
    values: Float[Array, " taus"], taus: Float[Array, " taus"], targets: Float[Array, " targets"], kappa: float
) -> Float[Array, ""]:
    """How far `values` are from being the quantiles `taus` of `targets` (Dabney et al., 2018, equation 3):

    Σ_i mean_j |τ_i - [δ_ij < 0]| L_κ(δ_ij) / κ,   δ_ij = target_j - value_i,
    L_κ(δ) = δ²/2 where |δ| ≤ κ, and κ (|δ| - κ/2) elsewhere
    """
    error = targets[None, :] - values[:, None]
    size = jnp.abs(error)
    huber = jnp.where(size <= kappa, 0.5 * error**2, kappa * (size - 0.5 * kappa))
    weight = jnp.abs(taus[:, None] - (error < 0).astype(jnp.float32))
    return jnp.sum(jnp.mean(weight * huber / kappa, axis=1))

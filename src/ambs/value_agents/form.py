"""A network as one vector: all its weights end to end, and back.

A gradient step of a small network is short, and handing dozens of arrays to it and back is a good part of it; one long
array is handed over at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ambs.value_agents.networks import Network


@dataclass(frozen=True)
class Form:
    """What a vector has to be told to be a network again."""

    tree: Any
    shapes: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, network: Network) -> Form:
        leaves, tree = jax.tree.flatten(network)
        return cls(tree, tuple(leaf.shape for leaf in leaves))

    def pack(self, network: Network) -> Float[Array, " weights"]:
        # Between barriers pieces are copied whole; within a larger loop every number would ask where it comes from.
        leaves = jax.lax.optimization_barrier(jax.tree.leaves(network))
        return jax.lax.optimization_barrier(jnp.concatenate([leaf.reshape(-1) for leaf in leaves]))

    def unpack(self, weights: Float[Array, " weights"]) -> Network:
        leaves, start = [], 0
        for shape in self.shapes:
            end = start + math.prod(shape)
            leaves.append(weights[start:end].reshape(shape))
            start = end
        network: Network = jax.tree.unflatten(self.tree, jax.lax.optimization_barrier(leaves))
        return network

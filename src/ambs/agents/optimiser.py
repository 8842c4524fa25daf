"""One optimiser a network: gradients clipped by their norm, Adam, and a report of what happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from ambs.errors import AmbsError


@dataclass(frozen=True)
class OptimiserConfig:
    """As in the paper's tables."""

    learning_rate: float
    epsilon: float
    clip: float
    """The largest norm of a gradient."""
    second_decay: float = 0.999
    """β₂ of Adam, how long the squares of gradients are remembered."""

    def __post_init__(self) -> None:
        if not self.clip > 0:
            raise AmbsError(f"the largest norm of a gradient is {self.clip:g}, and has to be more than 0.")
        if not 0 <= self.second_decay < 1:
            raise AmbsError(f"second_decay is {self.second_decay:g}, and has to be at least 0 and less than 1.")

    def make(self) -> optax.GradientTransformation:
        adam = optax.adam(self.learning_rate, b2=self.second_decay, eps=self.epsilon)
        return optax.chain(optax.clip_by_global_norm(self.clip), adam)


def start(config: OptimiserConfig, model: Any) -> Any:
    """The optimiser's state for the arrays of `model`."""
    return config.make().init(eqx.filter(model, eqx.is_inexact_array))


def update(config: OptimiserConfig, model: Any, gradient: Any, state: Any) -> tuple[Any, Any, Float[Array, ""]]:
    """The model one step later, the optimiser's state, and the gradient's norm."""
    norm = optax.tree.norm(gradient)
    changes, state = config.make().update(gradient, state, eqx.filter(model, eqx.is_inexact_array))
    return eqx.apply_updates(model, changes), state, norm.astype(jnp.float32)

"""A simulator or a policy written in NumPy, for the shield to imagine with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from ambs.errors import ModelError, positive_integer
from ambs.types import Prediction

# (states [batch, ...], actions [batch, ...], uniform numbers [batch, noise]) -> next states, labels, go on
NumpyStep = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, Mapping[str, np.ndarray], np.ndarray]]


class NumpyModel(eqx.Module):
    """A simulator as a model: it is called with whole batches of states, from inside the compiled loop.

    `step(states, actions, noise)` gets arrays with the batch in front and returns the next states, a Boolean array for
    each label, and where the episode goes on. `noise` are uniform numbers in [0, 1), `noise_size` for each of the
    batch: all randomness has to come from them, so that decisions can be repeated.
    """

    step_function: NumpyStep = eqx.field(static=True)
    atoms: tuple[str, ...] = eqx.field(static=True)
    state_shape: tuple[int, ...] = eqx.field(static=True)
    dtype: str = eqx.field(static=True)
    noise_size: int = eqx.field(static=True)

    def __init__(
        self, step: NumpyStep, atoms: Sequence[str], *, state_shape: Sequence[int] = (), dtype: str = "float32",
        noise_size: int = 1,
    ) -> None:  # fmt: skip
        self.step_function = step
        self.atoms = tuple(atoms)
        self.state_shape = tuple(state_shape)
        self.dtype = dtype
        self.noise_size = positive_integer("noise_size", noise_size)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.atoms

    def step(self, state: Array, action: Array, *, key: PRNGKeyArray) -> tuple[Array, Prediction]:
        noise = jax.random.uniform(key, (self.noise_size,))
        shapes = (
            jax.ShapeDtypeStruct(self.state_shape, self.dtype),
            jax.ShapeDtypeStruct((len(self.atoms),), bool),
            jax.ShapeDtypeStruct((), bool),
        )
        following, labels, going_on = jax.pure_callback(
            self._call, shapes, state, action, noise, vmap_method="broadcast_all"
        )
        named = {atom: labels[index] for index, atom in enumerate(self.atoms)}
        return following, Prediction(jnp.zeros(()), going_on.astype(float), named)

    def _call(self, state: Any, action: Any, noise: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """One call for the whole batch, whatever axes were vmapped."""
        state, action, noise = (np.asarray(each) for each in (state, action, noise))
        batch = noise.shape[:-1]
        flat = (
            state.reshape(-1, *self.state_shape),
            action.reshape(-1, *action.shape[len(batch) :]),
            noise.reshape(-1, self.noise_size),
        )
        following, labels, going_on = self.step_function(*flat)
        missing = set(self.atoms) - set(labels)
        if missing:
            raise ModelError(f"the simulator's step returned no label {', '.join(sorted(missing))}.")
        following = np.asarray(following, self.dtype)
        if following.shape != flat[0].shape or (following.dtype.kind == "f" and np.isnan(following).any()):
            raise ModelError(
                f"the simulator's step returned states of shape {following.shape} (with NaN: "
                f"{bool(np.isnan(following).any())}) for states of shape {flat[0].shape}."
            )
        stacked = np.stack([np.asarray(labels[atom], bool) for atom in self.atoms], axis=-1)
        return (
            following.reshape(*batch, *self.state_shape),
            stacked.reshape(*batch, len(self.atoms)),
            np.asarray(going_on, bool).reshape(batch),
        )


class NumpyPolicy(eqx.Module):
    """A policy from any library: a function from a batch of states to the probabilities of its discrete actions."""

    probabilities: Callable[[np.ndarray], np.ndarray] = eqx.field(static=True)
    actions: int = eqx.field(static=True)
    state_shape: tuple[int, ...] = eqx.field(static=True, default=())

    def sample(self, state: Array, *, key: PRNGKeyArray) -> Array:
        shape = jax.ShapeDtypeStruct((self.actions,), "float32")
        probs = jax.pure_callback(self._call, shape, state, vmap_method="broadcast_all")
        return jnp.minimum(jnp.sum(jax.random.uniform(key) >= jnp.cumsum(probs)), self.actions - 1)

    def _call(self, state: Any) -> np.ndarray:
        state = np.asarray(state)
        batch = state.shape[: state.ndim - len(self.state_shape)]
        rows = np.asarray(self.probabilities(state.reshape(-1, *self.state_shape)), "float32")
        if rows.shape[-1] != self.actions or not np.abs(rows.sum(axis=-1) - 1).max() < 1e-4:
            raise ModelError(f"the policy's probabilities have shape {rows.shape}, or do not sum to 1.")
        return rows.reshape(*batch, self.actions)

"""A simulator or a policy written in NumPy, for the shield to imagine with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, ArrayLike, PRNGKeyArray

from ambs.errors import ModelError, positive_integer
from ambs.shield.callbacks import call_numpy
from ambs.shield.fitting import ONE_STATE
from ambs.types import Prediction

# (states [batch, ...], actions [batch, ...], uniform numbers [batch, noise]) -> next states, labels, go on
NumpyStep = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, Mapping[str, np.ndarray], np.ndarray]]


class NumpyModel(eqx.Module):
    """A simulator as a model: it is called with whole batches of states, from inside the compiled loop.

    `step(states, actions, noise)` gets arrays with the batch in front and returns the next states, a Boolean array for
    each label, and where the episode goes on. `noise` are uniform numbers in [0, 1), `noise_size` for each of the
    batch: all randomness has to come from them, so that decisions can be repeated.

    What `step` raises comes out of the shield as it was raised; inside a `jit` of your own, JAX wraps it.
    """

    has_costs: ClassVar[bool] = False

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

    def step(self, state: ArrayLike, action: ArrayLike, *, key: PRNGKeyArray) -> tuple[Array, Prediction]:
        _require_one("model", state, self.state_shape)
        noise = jax.random.uniform(key, (self.noise_size,))
        shapes = (
            jax.ShapeDtypeStruct(self.state_shape, self.dtype),
            jax.ShapeDtypeStruct((len(self.atoms),), bool),
            jax.ShapeDtypeStruct((), bool),
        )
        following, labels, going_on = call_numpy(self._call, shapes, state, action, noise)
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
        rows = (len(flat[0]),)
        following = _returned("states", following, flat[0].shape).astype(self.dtype)
        named = [_returned(f"the label {atom}", labels[atom], rows).astype(bool) for atom in self.atoms]
        lives = _returned("going on", going_on, rows).astype(bool)
        return (
            following.reshape((*batch, *self.state_shape)),
            np.stack(named, axis=-1).reshape((*batch, len(self.atoms))),
            lives.reshape(batch),
        )


class NumpyPolicy(eqx.Module):
    """A policy from any library: a function from a batch of states to the probabilities of its discrete actions."""

    probabilities: Callable[[np.ndarray], np.ndarray] = eqx.field(static=True)
    actions: int = eqx.field(static=True)
    state_shape: tuple[int, ...] = eqx.field(static=True, default=())

    @property
    def table_shape(self) -> tuple[None, int]:
        return None, self.actions

    def sample(self, state: ArrayLike, *, key: PRNGKeyArray) -> Array:
        _require_one("policy", state, self.state_shape)
        probs = call_numpy(self._call, jax.ShapeDtypeStruct((self.actions,), "float32"), state)
        return jnp.minimum(jnp.sum(jax.random.uniform(key) >= jnp.cumsum(probs)), self.actions - 1)

    def _call(self, state: Any) -> np.ndarray:
        state = np.asarray(state)
        batch = state.shape[: state.ndim - len(self.state_shape)]
        flat = state.reshape(-1, *self.state_shape)
        rows = np.asarray(self.probabilities(flat), "float32")
        if rows.shape != (len(flat), self.actions):
            raise ModelError(
                f"the policy's probabilities have shape {rows.shape}, and for {len(flat)} states and {self.actions} "
                f"actions that has to be {(len(flat), self.actions)}."
            )
        if not (rows >= 0).all() or not np.abs(rows.sum(axis=-1) - 1).max() < 1e-4:
            raise ModelError("the policy's probabilities are negative or NaN, or a row of them does not sum to 1.")
        return rows.reshape((*batch, self.actions))


def _require_one(part: str, state: Any, shape: tuple[int, ...]) -> None:
    if jnp.shape(state) != shape:
        raise ModelError(f"the {part} takes states of shape {shape}, not {jnp.shape(state)}: {ONE_STATE}.")


def _returned(what: str, values: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a simulator returned, as an array of the shape that is needed; NaN would turn into a number or into True."""
    array = np.asarray(values)
    if array.shape != shape or (array.dtype.kind == "f" and np.isnan(array).any()):
        raise ModelError(
            f"the simulator's step returned {what} of shape {array.shape}, and that has to be {shape}, without NaN."
        )
    return array

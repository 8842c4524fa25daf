"""What an observation is made of, from its Gymnasium space: images, grids of zeros and ones, vectors.

    image     a Box of bytes with sides of 8 to 256 pixels    /255, image network, squared error
    grid      an array of zeros and ones, sides of 4 to 64     convolution and MLP, cross-entropy
    binary    any other array whose values are 0 or 1          flattened, MLP, cross-entropy
    vector    any other array of numbers                       flattened, symlog, MLP, squared error

Images and grids are [rows, columns] or [rows, columns, channels]; images of less than 8 channels may have them first.

A Discrete is a binary vector with a single one. A Dict has a part a key; anything else is the one part "".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces
from jaxtyping import Array, Float

from ambs.envs.encoding import require_encodable
from ambs.errors import AmbsError
from ambs.world_model.numbers import symexp, symlog

LEAST_SIDE, MOST_SIDE = 8, 256
# A grid is looked at cell by cell; beyond this that costs more than it helps.
LEAST_CELLS, MOST_CELLS = 4, 64


@dataclass(frozen=True)
class Part:
    """One array of an observation, and how it is encoded."""

    key: str
    kind: str
    """"image", "grid", "binary" or "vector"."""
    shape: tuple[int, ...]
    """As the environment gives it; () for a choice."""
    choices: int = 0
    """How many values a Discrete has; 0 for arrays."""

    @property
    def size(self) -> int:
        return self.choices or math.prod(self.shape)

    @property
    def image(self) -> tuple[int, int, int]:
        """Rows, columns and channels of an image or a grid, whatever the order that the environment gives them in."""
        if self._channels_first:
            return self.shape[1], self.shape[2], self.shape[0]
        rows, columns, *channels = self.shape
        return rows, columns, channels[0] if channels else 1

    @property
    def _channels_first(self) -> bool:
        # No image has so few rows; a grid may.
        return self.kind == "image" and len(self.shape) == 3 and self.shape[0] < LEAST_SIDE

    def prepare(self, raw: Array) -> Float[Array, "..."]:
        """Raw numbers to what the encoder reads and the decoder is to give back, time and batch in front."""
        if self.choices:
            return jax.nn.one_hot(raw, self.choices)
        if self.kind in ("image", "grid"):
            ordered = jnp.moveaxis(raw, -3, -1) if self._channels_first else raw
            plane = ordered.reshape(*raw.shape[: raw.ndim - len(self.shape)], *self.image).astype(jnp.float32)
            return plane / 255 if self.kind == "image" else plane
        flat = raw.reshape(*raw.shape[: raw.ndim - len(self.shape)], self.size).astype(jnp.float32)
        return flat if self.kind == "binary" else symlog(flat)

    def show(self, guess: Float[Array, "..."]) -> Array:
        """What the decoder says, as the environment would give it: bytes, bits or numbers; channels are last."""
        if self.kind == "image":
            return jnp.round(255 * jnp.clip(guess + 0.5, 0, 1)).astype(jnp.uint8)
        if self.kind == "vector":
            return symexp(guess)
        return (guess > 0).astype(jnp.uint8)


def parts_of(space: spaces.Space[Any]) -> tuple[Part, ...]:
    """The parts of an observation space, in the order of its keys."""
    require_encodable(space)
    if isinstance(space, spaces.Dict):
        return tuple(_part(str(key), one) for key, one in space.spaces.items())
    return (_part("", space),)


def as_parts(observation: Any) -> dict[str, Any]:
    """An observation as a dictionary of its parts."""
    return dict(observation) if isinstance(observation, dict) else {"": observation}


def _part(key: str, space: spaces.Space[Any]) -> Part:
    if isinstance(space, spaces.Discrete):
        if space.start != 0:
            raise AmbsError(f"the observation is {space}, and choices have to be counted from 0.")
        return Part(key, "binary", (), int(space.n))
    if isinstance(space, spaces.MultiBinary):
        return _bits(key, tuple(space.shape))
    if isinstance(space, spaces.Box):
        if space.dtype == np.uint8 and _goes_to(255, space) and _is_plane(space.shape):
            return _image(key, space)
        if space.dtype in (np.uint8, np.int8, bool) and _goes_to(1, space):
            return _bits(key, space.shape)
        return Part(key, "vector", space.shape)
    raise AmbsError(f"the observation has a part {space}, and a world model takes Box, Discrete and MultiBinary.")


def _bits(key: str, shape: tuple[int, ...]) -> Part:
    is_grid = len(shape) in (2, 3) and min(shape[:2]) >= LEAST_CELLS and max(shape) <= MOST_CELLS
    return Part(key, "grid" if is_grid else "binary", shape)


def _goes_to(most: int, space: spaces.Box) -> bool:
    return bool(np.all(space.low == 0) and np.all(space.high == most))


def _is_plane(shape: tuple[int, ...]) -> bool:
    """More than a few pixels or cells high and wide."""
    return len(shape) in (2, 3) and min(Part("", "image", shape).image[:2]) >= LEAST_SIDE


def _image(key: str, space: spaces.Box) -> Part:
    part = Part(key, "image", space.shape)
    rows, columns, _ = part.image
    if max(rows, columns) > MOST_SIDE:
        where = f'the observation "{key}"' if key else "the observation"
        raise AmbsError(
            f"{where} is an image of {rows}×{columns} pixels, and sides of up to {MOST_SIDE} can be learned from; make "
            "it smaller, e.g. 64×64 with gymnasium.wrappers.ResizeObservation."
        )
    return part

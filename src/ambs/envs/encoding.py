"""Which observations a world model can be taught: arrays of numbers, choices, and dictionaries and tuples of them."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from ambs.errors import AmbsError


def require_encodable(space: spaces.Space, where: str = "the observation") -> None:
    """Nothing if `space` can be encoded, and an error that names the part of it that cannot be."""
    if isinstance(space, spaces.Dict):
        for key, part in space.spaces.items():
            require_encodable(part, f'{where}["{key}"]' if isinstance(key, str) else f"{where}[{key!r}]")
    elif isinstance(space, spaces.Tuple):
        for index, part in enumerate(space.spaces):
            require_encodable(part, f"{where}[{index}]")
    elif not _is_simple(space):
        raise AmbsError(
            f"{where} is {space}, which cannot be encoded; make it a Box of 1 to 3 dimensions, Discrete, MultiDiscrete "
            "or MultiBinary, or a Dict or Tuple of those, e.g. with gymnasium.wrappers.TransformObservation."
        )


def _is_simple(space: spaces.Space) -> bool:
    if isinstance(space, spaces.Box):
        # A vector, a grey image or a table, or an image with channels.
        return 1 <= len(space.shape) <= 3 and space.dtype is not None and np.issubdtype(space.dtype, np.number)
    return isinstance(space, spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary)

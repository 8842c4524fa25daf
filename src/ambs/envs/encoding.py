"""Which observations a world model can be taught: arrays of numbers, choices, and flat dictionaries of them.

How each of them is encoded is in `ambs.world_model.parts`.
"""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from ambs.errors import AmbsError


def require_encodable(space: spaces.Space) -> None:
    """Nothing if `space` can be encoded, and an error that names the part of it that cannot be."""
    parts = {"the observation": space}
    if isinstance(space, spaces.Dict):
        parts = {
            f'the observation["{key}"]' if isinstance(key, str) else f"the observation[{key!r}]": part
            for key, part in space.spaces.items()
        }
    for where, part in parts.items():
        if isinstance(part, spaces.Discrete) and part.start != 0:
            raise AmbsError(f"{where} is {part}, and choices have to be counted from 0.")
        if not _is_simple(part):
            raise AmbsError(
                f"{where} is {part}, which cannot be encoded; make it a Box of 1 to 3 dimensions, Discrete or "
                "MultiBinary, or the whole observation a Dict of those, e.g. with "
                "gymnasium.wrappers.FlattenObservation or TransformObservation."
            )


def _is_simple(space: spaces.Space) -> bool:
    if isinstance(space, spaces.Box):
        # A vector, a grey image or a table, or an image with channels; of numbers, or of True and False.
        return 1 <= len(space.shape) <= 3 and np.dtype(space.dtype).kind in "biuf"
    return isinstance(space, spaces.Discrete | spaces.MultiBinary)

"""What a user shows to an agent: one observation or a batch of them, as the observation space has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from ambs.errors import AmbsError


class Observed(NamedTuple):
    """Observations by part, a row each; and whether there was one alone."""

    parts: dict[str, np.ndarray]
    rows: int
    alone: bool


def observed(observation: Any, space: spaces.Space[Any]) -> Observed:
    """The observation's parts with a leading axis, which one observation alone is given."""
    if isinstance(space, spaces.Dict):
        given, wanted = observation, dict(space.spaces)
        if not isinstance(given, Mapping) or set(given) != set(wanted):
            has = f"the keys {', '.join(map(str, given))}" if isinstance(given, Mapping) else "no keys"
            raise AmbsError(f"the observation has {has}, and has to have {', '.join(wanted)}.")
    else:
        given, wanted = {"": observation}, {"": space}
    arrays = {key: _array(f'observation["{key}"]' if key else "observation", given[key], wanted[key]) for key in wanted}
    shapes = {array.shape[: array.ndim - len(wanted[key].shape or ())] for key, array in arrays.items()}
    if len(shapes) > 1:
        raise AmbsError(f"the parts of the observation are batches of {_listed(shapes)}, and have to be of one size.")
    (batch,) = shapes
    parts = {key: array if batch else array[None] for key, array in arrays.items()}
    return Observed(parts, batch[0] if batch else 1, not batch)


def _array(what: str, value: Any, space: spaces.Space[Any]) -> np.ndarray:
    array, shape, dtype = np.asarray(value), space.shape or (), np.dtype(space.dtype)
    extra = array.ndim - len(shape)
    if extra not in (0, 1) or array.shape[extra:] != shape or (extra and not len(array)):
        raise AmbsError(
            f"the {what} has the shape {array.shape}, and has to have {shape}, or one axis more in front for a batch."
        )
    # An image divided by 255 is the usual mistake here, and would be all black.
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise AmbsError(f"the {what} is {array.dtype}, and has to be {dtype} as in {space}.")
    if isinstance(space, spaces.Discrete) and not ((array >= space.start) & (array < space.start + space.n)).all():
        raise AmbsError(f"the {what} is {array.tolist()}, and has to be in {space}.")
    return array.astype(dtype, copy=False)


def _listed(shapes: set[tuple[int, ...]]) -> str:
    return " and ".join(sorted(str(shape[0]) if shape else "one alone" for shape in shapes))

"""Actions are looked at before any environment is given one: a mistake is said while nothing has been stepped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ambs.errors import AmbsError


def checked(actions: Any, space: spaces.Space[Any], count: int) -> NDArray[Any]:
    """`count` actions of this space, one a row."""
    assert space.shape is not None
    assert space.dtype is not None
    shape, given = (count, *space.shape), np.asarray(actions)
    # No actions have no type: an empty list comes as floats.
    if given.shape != shape or (given.size and not np.can_cast(given.dtype, space.dtype, "same_kind")):
        raise AmbsError(
            f"the actions are {given.dtype} of shape {given.shape}, and have to be {space.dtype} of shape {shape}: "
            "a row an action."
        )
    if isinstance(space, spaces.Discrete):
        outside = (given < space.start) | (given >= space.start + space.n)
    elif isinstance(space, spaces.MultiDiscrete):
        outside = (given < space.start) | (given >= space.start + space.nvec)
    else:
        outside = np.False_
    if outside.any():
        raise AmbsError(f"an action is outside of {space}: the actions are {given.tolist()}.")
    return given


def checked_preferences(preferences: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Numbers of this shape."""
    given = np.asarray(preferences)
    if given.shape != shape or not np.can_cast(given.dtype, np.float32, "same_kind"):
        raise AmbsError(
            f"the preferences are {given.dtype} of shape {given.shape}, and have to be numbers of shape {shape}: a row "
            "an environment, a column an action."
        )
    return given


def checked_episodes(
    episodes: Any, actions: Any, space: spaces.Space[Any], num_envs: int
) -> tuple[list[int], list[NDArray[Any]]]:
    """The number of one episode an environment, and the actions that were taken in it so far."""
    for what, given in (("episodes", episodes), ("actions", actions)):
        if not isinstance(given, Sequence | np.ndarray) or len(given) != num_envs:
            raise AmbsError(
                f"{what} is {given!r}, and has to be a list with one item for each of {num_envs} environments."
            )
    for number in episodes:
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise AmbsError(f"the number of an episode is {number!r}, and has to be a whole number of at least 0.")
    return [int(number) for number in episodes], [
        checked(played, space, len(np.atleast_1d(played))) for played in actions
    ]

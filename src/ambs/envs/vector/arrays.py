"""The arrays that environments and trainer share, and how they are laid out in one block of memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ambs.errors import AmbsError

# Where in the arrays an observation that is no dictionary is, and a key of one that is.
OBS = "obs"

# What an environment is asked to do, in the array "todo": to take the action in "action", to begin an episode with the
# seed in "seed", or to do so after having been made, or made anew; or to have its guard judge the action in "action",
# with "preferences" among all actions, and put there the one to play.
NOTHING, STEP, RESET, MAKE, GUARD = 0, 1, 2, 3, 4

# The arrays begin where a cache line does, so that neighbours are not slowed by each other's writes.
_ALIGNMENT = 64


@dataclass(frozen=True)
class Description:
    """What has to be the same of all environments of a vector, for their rows to fit into the same arrays."""

    observation_space: spaces.Space[Any]
    action_space: spaces.Space[Any]
    atoms: tuple[str, ...]

    def observations(self) -> dict[str, spaces.Space[Any]]:
        """Name of the array → the space of its rows."""
        if isinstance(self.observation_space, spaces.Dict):
            return {f"{OBS}/{key}": space for key, space in self.observation_space.spaces.items()}
        return {OBS: self.observation_space}


@dataclass(frozen=True)
class Layout:
    """Shape, data type and place of every array in one block of memory."""

    fields: Mapping[str, tuple[tuple[int, ...], np.dtype[Any], int]]
    size: int

    def view(self, memory: Any) -> dict[str, NDArray[Any]]:
        """The arrays themselves, on a buffer of `size` bytes."""
        return {
            name: np.ndarray(shape, dtype, buffer=memory, offset=offset)
            for name, (shape, dtype, offset) in self.fields.items()
        }


def layout(description: Description, n: int) -> Layout:
    """Where everything goes for `n` environments like this one."""
    rows: dict[str, tuple[tuple[int, ...], Any]] = {
        name: _row(space, "observation") for name, space in description.observations().items()
    }
    rows |= {
        "action": _row(description.action_space, "action"),
        "todo": ((), np.uint8),
        "seed": ((), np.int64),
        "reward": ((), np.float32),
        "cost": ((), np.float32),
        "labels": ((len(description.atoms),), np.bool_),
        "is_first": ((), np.bool_),
        "is_last": ((), np.bool_),
        "is_terminal": ((), np.bool_),
        "preferences": ((_choices(description.action_space),), np.float32),
        "overridden": ((), np.bool_),
        "estimate": ((), np.float32),
        "searched": ((), np.int64),
        "seconds": ((), np.float64),
    }
    fields, end = {}, 0
    for name, (shape, dtype) in rows.items():
        fields[name] = ((n, *shape), np.dtype(dtype), end)
        size = math.prod((n, *shape)) * np.dtype(dtype).itemsize
        end += -(-size // _ALIGNMENT) * _ALIGNMENT
    return Layout(fields, end)


def _choices(space: spaces.Space[Any]) -> int:
    return int(space.n) if isinstance(space, spaces.Discrete) else 0


def _row(space: spaces.Space[Any], what: str) -> tuple[tuple[int, ...], Any]:
    if not isinstance(space, spaces.Box | spaces.Discrete | spaces.MultiDiscrete | spaces.MultiBinary):
        also = ", or a Dict of such spaces" if what == "observation" else ""
        raise AmbsError(
            f"the {what} space {space} does not fit into arrays of fixed shape; it has to be a Box, Discrete, "
            f"MultiDiscrete or MultiBinary{also}: flatten it with a Gymnasium wrapper."
        )
    assert space.shape is not None
    return space.shape, space.dtype


def describe(env: gymnasium.Env[Any, Any], info: Mapping[str, Any]) -> Description:
    """What `env` is like, given the info of its reset."""
    for key, example in (("labels", "a dictionary atom → bool"), ("cost", "0 or C")):
        if key not in info:
            raise AmbsError(f'{env} does not put "{key}" into its info ({example}); wrap it with ambs.envs.Labelled.')
    return Description(env.observation_space, env.action_space, tuple(info["labels"]))

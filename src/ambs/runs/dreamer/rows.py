"""Between what environments give, what the replay stores and what the learner takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from gymnasium import spaces

from ambs.envs.vector import Batch
from ambs.world_model.model import Sequences
from ambs.world_model.parts import Part, as_parts

_NUMBERS = ("reward", "cost")
_FLAGS = ("is_first", "is_terminal")


def layout(space: spaces.Space[Any], parts: tuple[Part, ...], actions: int) -> dict[str, Any]:
    """What the replay stores of each step: key → shape and dtype."""
    each = dict(space.spaces) if isinstance(space, spaces.Dict) else {"": space}
    seen = {f"obs/{part.key}": (each[part.key].shape, each[part.key].dtype) for part in parts}
    numbers = dict.fromkeys(_NUMBERS, ((), np.float32))
    flags = dict.fromkeys(_FLAGS, ((), np.bool_))
    return {**seen, "action": ((actions,), np.float32), **numbers, **flags}


def as_rows(batch: Batch, action: np.ndarray) -> dict[str, np.ndarray]:
    """One step of every environment, with the actions that led to it."""
    seen = {f"obs/{key}": value for key, value in as_parts(batch.obs).items()}
    return {**seen, "action": action, **{key: getattr(batch, key) for key in (*_NUMBERS, *_FLAGS)}}


def as_sequences(rows: Mapping[str, np.ndarray], parts: tuple[Part, ...], violation_cost: float = 10.0) -> Sequences:
    """What was drawn from the replay, for the learner; still on the host, for whoever shares it out.

    A state that breaks the formula costs C, whatever the environment calls its cost: shields compare with C.
    """
    rows = {**rows, "cost": np.where(rows["cost"] > 0, np.float32(violation_cost), np.float32(0))}
    obs: dict[str, Any] = {part.key: rows[f"obs/{part.key}"] for part in parts}
    return Sequences(obs, *(cast(Any, rows[key]) for key in ("action", *_NUMBERS, *_FLAGS)))

"""What a row of the replay is made of: under each key an array of one shape and dtype, the same for every step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ambs.errors import AmbsError


class Field(NamedTuple):
    """The array of one step of one environment under one key."""

    shape: tuple[int, ...]
    dtype: Any
    """What `np.dtype` understands: Booleans, integers or floats."""

    @property
    def nbytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * np.dtype(self.dtype).itemsize

    def __str__(self) -> str:
        return f"{np.dtype(self.dtype).name} [{', '.join(map(str, self.shape))}]"


Layout = Mapping[str, Field]


def as_layout(given: Mapping[str, Any]) -> dict[str, Field]:
    """The layout with its dtypes made definite, or an error that names the key that cannot be stored."""
    layout = {}
    for key, (shape, dtype) in given.items():
        field = Field(tuple(int(size) for size in shape), np.dtype(dtype).newbyteorder("="))
        if field.dtype.kind not in "biuf" or field.nbytes == 0:
            raise AmbsError(f'the replay cannot store "{key}" as {field}; it takes Booleans, integers and floats.')
        layout[key] = field
    if not layout:
        raise AmbsError("the replay needs at least one key to store.")
    return layout


def to_json(layout: Layout) -> dict[str, Any]:
    return {key: {"shape": list(shape), "dtype": np.dtype(dtype).name} for key, (shape, dtype) in layout.items()}


def from_json(stored: Mapping[str, Any]) -> dict[str, Field]:
    return as_layout({key: (field["shape"], field["dtype"]) for key, field in stored.items()})


def difference(stored: Layout, now: Layout) -> str | None:
    """The first key in which two layouts differ, as a clause of a sentence; None when there is none."""
    for key in [*stored, *now]:
        was, is_now = stored.get(key), now.get(key)
        if was != is_now:
            return f'"{key}" was {was or "not stored"} and is now {is_now or "not stored"}'
    return None

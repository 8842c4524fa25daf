"""Image networks a few images at a time: on a CPU, what fits the cache is computed twice sooner than fetched once.

Forward in chunks, and backward with each chunk computed anew, the activations of a batch of images never leave the
cache; 1,024 images of 64×64 take half the time. Accelerators are given all at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jaxtyping import Array

IMAGES = 32


def in_chunks(function: Callable[..., Array], *arrays: Any) -> Array:
    """`function(*arrays)`, which maps the leading axis of all its arrays, computed for about 32 rows at a time."""
    rows = jax.tree.leaves(arrays)[0].shape[0]
    chunks = next(n for n in range(max(1, rows // IMAGES), 0, -1) if rows % n == 0)
    if chunks == 1 or jax.default_backend() != "cpu":
        return function(*arrays)
    cut = jax.tree.map(lambda each: each.reshape(chunks, rows // chunks, *each.shape[1:]), arrays)
    out = jax.lax.map(jax.checkpoint(lambda chunk: function(*chunk)), cut)
    return out.reshape(rows, *out.shape[2:])

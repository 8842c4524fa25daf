"""Sizes of networks. `tiny` and `s` are those that other implementations were measured at; `xl` is the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ambs.errors import AmbsError

IMAGES = ("patches", "convolutions")


@dataclass(frozen=True)
class Size:
    """How large the parts of a world model and of an actor-critic are."""

    recurrent: int
    """Of h."""
    units: int
    """Width of dense layers."""
    layers: int
    """Of the heads, the actor and the critics."""
    variables: int
    """Categorical variables in z."""
    classes: int
    """Classes of each."""
    depth: int
    """Channels of the first image layer."""
    codec: int | None = None
    """Width of the dense layers that read and write observations, if not `units`: on grids of zeros and ones, wide
    layers there learn in fewer steps, and cost less than wide layers everywhere."""
    images: Any = "patches"
    """How images are read: "patches", which a CPU is fast at, or "convolutions", as the paper does."""

    def __post_init__(self) -> None:
        if self.images not in IMAGES:
            raise AmbsError(f"a size has images={self.images!r}, and it has to be one of {', '.join(IMAGES)}.")


SIZES = {
    "debug": Size(recurrent=16, units=16, layers=1, variables=4, classes=4, depth=4),
    "nano": Size(recurrent=128, units=128, layers=1, variables=16, classes=16, depth=8, codec=256),
    "tiny": Size(recurrent=256, units=256, layers=2, variables=16, classes=16, depth=16),
    "xs": Size(recurrent=256, units=256, layers=1, variables=32, classes=32, depth=24, images="convolutions"),
    "s": Size(recurrent=512, units=512, layers=2, variables=32, classes=32, depth=32, images="convolutions"),
    "m": Size(recurrent=1024, units=640, layers=3, variables=32, classes=32, depth=48, images="convolutions"),
    "l": Size(recurrent=2048, units=768, layers=4, variables=32, classes=32, depth=64, images="convolutions"),
    "xl": Size(recurrent=4096, units=1024, layers=5, variables=32, classes=32, depth=96, images="convolutions"),
}


def size(name: str) -> Size:
    if name not in SIZES:
        raise AmbsError(f'there is no size "{name}"; choose one of {", ".join(SIZES)}.')
    return SIZES[name]

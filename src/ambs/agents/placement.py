"""Where arrays live: a batch is split over the devices, what is learned is on all of them.

The compiled step is the same for one device and for many: the compiler sees how its inputs lie, has every device work
on its share, and sums the gradients up. What comes out is what one device would have computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ambs.errors import AmbsError

Tree = TypeVar("Tree")


class Placement:
    """Over `devices`; or, if none are named, over as many of all that there are as can share `batch` out evenly."""

    def __init__(self, batch: int, devices: Sequence[Any] | None = None) -> None:
        if devices is None:
            available = jax.devices()
            count = next(n for n in range(min(len(available), batch), 0, -1) if batch % n == 0)
            devices = available[:count]
        self.devices = list(devices)
        if batch % len(self.devices):
            raise AmbsError(
                f"batch is {batch}, and cannot be shared out evenly over {len(self.devices)} devices; choose a "
                f"multiple of {len(self.devices)}."
            )
        mesh = Mesh(np.array(self.devices), ("data",))
        self._everywhere = NamedSharding(mesh, PartitionSpec())
        self._split = NamedSharding(mesh, PartitionSpec("data"))

    def copy(self, tree: Tree) -> Tree:
        """Every array whole on every device."""
        return self._put(tree, self._everywhere)

    def split(self, tree: Tree) -> Tree:
        """Every array cut along its first axis, a piece a device."""
        return self._put(tree, self._split)

    def _put(self, tree: Tree, sharding: NamedSharding) -> Tree:
        arrays, rest = eqx.partition(tree, lambda leaf: isinstance(leaf, jax.Array | np.ndarray))
        return eqx.combine(jax.device_put(arrays, sharding), rest)

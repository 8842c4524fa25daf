"""Where arrays live: a batch is split over the devices, what is learned is on all of them.

The compiled step is the same for one device and for many: the compiler sees how its inputs lie, has every device work
on its share, and sums the gradients up. What comes out is what one device would have computed.
"""

from __future__ import annotations

from typing import TypeVar

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ambs.errors import AmbsError

Tree = TypeVar("Tree")


class Placement:
    """Over the first `count` devices; if that is not said, over as many accelerators as can share `batch` out evenly.

    On a CPU over one: its cores are one device already, and several are there only where somebody has forced them.
    """

    def __init__(self, batch: int, count: int | None = None) -> None:
        available = jax.devices()
        if count is None:
            most = 1 if available[0].platform == "cpu" else min(len(available), batch)
            count = next(n for n in range(most, 0, -1) if batch % n == 0)
        if batch % count:
            raise AmbsError(
                f"batch is {batch}, and cannot be shared out evenly over {count} devices; choose a multiple of {count}."
            )
        if count > len(available):
            raise AmbsError(
                f"devices is {count}, and there are {len(available)} of the kind {available[0].platform}; ask for no "
                "more than there are."
            )
        self.devices = available[:count]
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

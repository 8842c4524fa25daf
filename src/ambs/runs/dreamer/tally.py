"""Metrics summed up where they are computed, and when each first was no finite number: the host need not wait.

The host asks only when a row is due, or a checkpoint; until then everything stays on the device.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int


class Broken(NamedTuple):
    """A metric that is no finite number any more."""

    name: str
    update: int
    """The number of the gradient step that it was first seen in."""


class Tally(eqx.Module):
    """Sums over the gradient steps since the last row."""

    count: Int[Array, ""]
    sums: dict[str, Float[Array, ""]]
    broken: dict[str, Int[Array, ""]]
    """Name → number of the gradient step in which the metric was first not finite, 0 if it always was."""

    @classmethod
    def like(cls, metrics: Mapping[str, Any]) -> Tally:
        """Of nothing yet, for metrics of these names."""
        none = jnp.zeros((), jnp.int32)
        return cls(none, {name: jnp.zeros(()) for name in metrics}, dict.fromkeys(metrics, none))

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Tally:
        """As it was saved; float32 is exact in JSON."""
        sums = {name: jnp.asarray(value, jnp.float32) for name, value in saved["sums"].items()}
        none = jnp.zeros((), jnp.int32)
        return cls(jnp.asarray(saved["count"], jnp.int32), sums, dict.fromkeys(sums, none))

    def as_json(self) -> dict[str, Any]:
        """Only of a tally in which nothing is broken, which is the only one to be saved."""
        return {"count": int(self.count), "sums": {name: float(value) for name, value in self.sums.items()}}

    def means(self) -> dict[str, float]:
        if int(self.count) == 0:
            return {}
        return {name: float(value) / int(self.count) for name, value in self.sums.items()}

    def first_broken(self) -> Broken | None:
        """What broke first; of several in one gradient step a loss, since the losses of the model come before all."""
        found = [Broken(name, int(update)) for name, update in self.broken.items() if int(update) > 0]
        return min(found, key=lambda one: (one.update, *_rank(one.name)), default=None)


@jax.jit
def add(tally: Tally, metrics: Mapping[str, Float[Array, ""]], update: Int[Array, ""]) -> Tally:
    """One more gradient step, the `update`-th."""
    sums = {name: tally.sums[name] + value.astype(jnp.float32) for name, value in metrics.items()}
    broken = {
        name: jnp.where((tally.broken[name] == 0) & ~jnp.isfinite(value), update, tally.broken[name])
        for name, value in metrics.items()
    }
    return Tally(tally.count + 1, sums, broken)


@eqx.filter_jit
def _finite(arrays: list[Array]) -> Bool[Array, ""]:
    return jnp.all(jnp.stack([jnp.all(jnp.isfinite(array)) for array in arrays]))


def all_finite(tree: Any) -> bool:
    """Whether every number in the tree is one."""
    arrays = [leaf for leaf in jax.tree.leaves(tree) if eqx.is_inexact_array(leaf)]
    return bool(np.asarray(_finite(arrays)))


def _rank(name: str) -> tuple[bool, bool, bool, str]:
    # What is to be foreseen is a sum over heads: the loss of the head itself says more.
    return not name.startswith("loss/"), "loss" not in name, name == "loss/ahead", name

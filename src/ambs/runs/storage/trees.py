"""A pytree as arrays with names, and back: what is learned, apart from the code that learned it.

A leaf is named by its path, `['actor'].layers[0].weight`. Arrays of JAX and of NumPy are stored, and plain numbers, and
random keys as the integers they are made of. Everything else (functions, sizes, None) is code, and comes from the tree
that is restored into.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ambs.errors import AmbsError

PyTree = Any
# As the manifest has it: {"shape": [3, 4], "dtype": "float32"}, and "impl" for random keys.
Description = dict[str, Any]


def named(tree: PyTree) -> dict[str, Any]:
    """The leaves that are stored, by name."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): leaf for path, leaf in leaves if _is_stored(leaf)}


def describe(leaf: Any) -> Description:
    if _is_key(leaf):
        impl = {} if isinstance(leaf, jax.ShapeDtypeStruct) else {"impl": str(jax.random.key_impl(leaf))}
        return {"shape": list(leaf.shape), "dtype": str(leaf.dtype), **impl}
    array = leaf if hasattr(leaf, "dtype") else np.asarray(leaf)
    return {"shape": list(array.shape), "dtype": array.dtype.name}


def to_array(leaf: Any) -> np.ndarray:
    """On the host and in C order: safetensors takes the bytes as they lie, and would not notice another order."""
    return np.asarray(jax.random.key_data(leaf) if _is_key(leaf) else leaf, order="C")


def restore(
    like: PyTree, arrays: Mapping[str, np.ndarray], described: Mapping[str, Description], *, part: bool = False
) -> PyTree:
    """`like` with its arrays replaced by the stored ones, on the devices where its own are.

    Args:
        like: A tree of the same structure; `jax.ShapeDtypeStruct`s will do for its arrays.
        arrays: By name, as `to_array` made them.
        described: By name, as `describe` has them.
        part: Whether arrays may be left over: `like` is then one part of what was stored.
    """
    _require_same(named(like), described, part)

    def one(path: Any, leaf: Any) -> Any:
        if not _is_stored(leaf):
            return leaf
        name = jax.tree_util.keystr(path)
        return _restored(leaf, arrays[name], described[name])

    return jax.tree_util.tree_map_with_path(one, like)


def _restored(leaf: Any, array: np.ndarray, described: Description) -> Any:
    if not hasattr(leaf, "dtype"):
        return type(leaf)(array.item())
    if isinstance(leaf, np.ndarray | np.generic):
        return array if isinstance(leaf, np.ndarray) else array[()]
    # A copy, which JAX owns and may overwrite when it is donated.
    value = jnp.array(array, copy=True)
    if _is_key(leaf):
        value = jax.random.wrap_key_data(value, impl=described["impl"])
    return jax.device_put(value, leaf.sharding) if isinstance(leaf, jax.Array) and leaf.committed else value


def _require_same(leaves: Mapping[str, Any], described: Mapping[str, Description], part: bool) -> None:
    for name in [*leaves, *described]:
        if part and name not in leaves:
            continue
        stored = _said(described[name]) if name in described else "not there"
        now = _said(describe(leaves[name])) if name in leaves else "not there"
        if stored != now:
            raise AmbsError(f"{name} is {stored} in the checkpoint and {now} here; it is of another size or agent.")


def _said(description: Description) -> str:
    return f"{description['dtype']} [{', '.join(map(str, description['shape']))}]"


def _is_stored(leaf: Any) -> bool:
    return (hasattr(leaf, "dtype") and hasattr(leaf, "shape")) or isinstance(leaf, bool | int | float)


def _is_key(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)

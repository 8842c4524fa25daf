"""Where episodes to start from are: a run folder, a dataset as Minari stores it, or an .npz file of the same arrays."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from ambs.agents.player import ActionCodec
from ambs.envs.catalogue import listed
from ambs.errors import AmbsError
from ambs.replay import Layout, Ring
from ambs.replay.layout import as_layout, difference
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.offline.episodes import as_columns
from ambs.runs.dreamer.offline.source import Arrays, Lanes, Source
from ambs.runs.dreamer.rows import layout
from ambs.runs.dreamer.saved import config_of
from ambs.world_model.parts import parts_of

_HDF5 = "main_data.hdf5"


def source_of(config: RunConfig, observed: spaces.Space[Any], acted: spaces.Space[Any]) -> Source:
    """What the run starts from, checked against the spaces of what it sees and of its actions."""
    assert config.start is not None
    path = Path(config.start.path)
    fields = as_layout(layout(observed, parts_of(observed), ActionCodec(acted).size))
    if (path / "config.json").exists():
        return _run(path, config, fields)
    cost = config.learner.violation_cost
    if path.suffix == ".npz" and path.is_file():
        return Arrays(as_columns(_npz(path), fields, acted, cost, str(path)))
    for file in (path, path / _HDF5, path / "data" / _HDF5):
        if file.suffix in (".hdf5", ".h5") and file.is_file():
            return Arrays(_hdf5(file, fields, acted, cost))
    raise AmbsError(
        f"there is nothing to start from at {path}: it is no run folder, no .npz file, and no dataset of Minari's "
        f"with its data/{_HDF5}."
    )


def _run(path: Path, config: RunConfig, fields: Layout) -> Source:
    other = config_of(path)
    for what, theirs, ours in (
        ("environment", other.env, config.env),
        ("options of the environment", other.env_options, config.env_options),
        ("formula", _formula(other), _formula(config)),
    ):
        if theirs != ours:
            raise AmbsError(
                f"the {what} of the run {path} to start from: {theirs or 'none'}; of this one: {ours or 'none'}. What "
                "it saw is not what this run will see; start from a run of the same."
            )
    ring = Ring.found(path / "replay")
    changed = difference(ring.layout, fields)
    if changed is not None:
        raise AmbsError(f"the replay of the run {path} does not fit this run: {changed}; start from another.")
    return Lanes(ring)


def _formula(config: RunConfig) -> Any:
    """What the costs in its replay are by: its own, or that of the environment."""
    spec = listed(config.env)
    return config.formula or (None if spec is None else spec.formula)


def _npz(path: Path) -> Mapping[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return nested((name, stored[name]) for name in stored.files)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise AmbsError(f"{path} cannot be read: {error}; write it with numpy.savez.") from error


def nested(arrays: Iterable[tuple[str, np.ndarray]]) -> dict[str, Any]:
    """Arrays under "episode_0/infos/cost" and the like as the tree that these names describe."""
    tree: dict[str, Any] = {}
    for name, array in arrays:
        *groups, last = name.split("/")
        node = tree
        for group in groups:
            node = node.setdefault(group, {})
            if not isinstance(node, dict):
                raise AmbsError(f'the array "{name}" is within another array; name arrays as Minari does.')
        node[last] = array
    return tree


def _hdf5(path: Path, fields: Layout, space: spaces.Space[Any], cost: float) -> dict[str, np.ndarray]:
    try:
        # For this alone, so it is no requirement of ambs.
        import h5py  # type: ignore[import-not-found]
    except ImportError as error:
        raise AmbsError(f"{path} is HDF5, and h5py, which reads that, is not installed: pip install h5py.") from error
    try:
        with h5py.File(path, "r") as stored:
            return as_columns(stored, fields, space, cost, str(path))
    except OSError as error:
        raise AmbsError(f"{path} cannot be read: {error}.") from error

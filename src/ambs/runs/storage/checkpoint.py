"""Checkpoints: arrays in safetensors, everything else in a JSON manifest, whole or not at all.

The arrays are written first, under a name that is used once; then the manifest that names them takes its place, and
that moment is the checkpoint. Whatever is killed in between leaves the checkpoints before it as they were. The last two
are kept, so that one that the disk has spoilt is not the end of the run.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import warnings
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ambs.errors import AmbsError
from ambs.files import replacing
from ambs.runs.storage.plain import plain
from ambs.runs.storage.trees import PyTree, describe, named, restore, to_array

KEPT = 2

# What comes of reading a manifest that is cut short, or whose arrays are gone.
_DAMAGE = (OSError, ValueError, LookupError, TypeError)


class Checkpoint(NamedTuple):
    """A run as it was after `step` environment steps."""

    tree: PyTree
    extra: dict[str, Any]
    step: int


def save(folder: Path, step: int, tree: PyTree, extra: dict[str, Any]) -> None:
    """Saves a checkpoint; the last two up to this step stay, and what is beyond it is from a future that was lost.

    Args:
        folder: Of the checkpoints alone.
        step: Environment steps so far.
        tree: Whose arrays are saved, whatever its structure.
        extra: What JSON can hold: counters, the state of a NumPy generator, how many rows the replay has.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder, step, named(tree), extra)
    except (OSError, SafetensorError) as error:
        raise AmbsError(
            f"the checkpoint of step {step:,} could not be written to {folder} ({error}); the one before it is intact: "
            "make room there and run the same command again."
        ) from error
    # What cannot be removed now is tried again next time; the checkpoint stands.
    with contextlib.suppress(OSError):
        _prune(folder, step)


def latest(folder: Path) -> dict[str, Any] | None:
    """The manifest of the newest checkpoint that is whole; with a warning for each that is not, None if none is."""
    for path in _newest_first(folder):
        try:
            manifest = _read(path)
            if _sha256(folder / manifest["file"]) == manifest["sha256"]:
                return manifest
            reason = f"the bytes of {manifest['file']} are not those that were saved"
        except _DAMAGE as error:
            reason = f"{type(error).__name__}: {error}"
        warnings.warn(f"the checkpoint {path} is damaged, and the one before it is used ({reason}).", stacklevel=2)
    return None


def load(folder: Path, like: PyTree, *, part: bool = False) -> Checkpoint | None:
    """The newest checkpoint that is whole, its arrays in a tree like `like`; None if there is none.

    With `part`, `like` is a part of the tree that was saved: the agent without its optimisers.
    """
    manifest = latest(folder)
    if manifest is None:
        return None
    tree = restore(like, load_file(folder / manifest["file"]), manifest["arrays"], part=part)
    return Checkpoint(tree, manifest["extra"], manifest["step"])


def _write(folder: Path, step: int, leaves: dict[str, Any], extra: dict[str, Any]) -> None:
    arrays = folder / f"{step:012}-{secrets.token_hex(4)}.safetensors"
    with replacing(arrays) as partial:
        partial.touch()
        mode = partial.stat().st_mode
        save_file({name: to_array(leaf) for name, leaf in leaves.items()}, partial)
        # safetensors makes files that only their owner can read.
        partial.chmod(mode)
        _sync(partial)
    manifest = {
        "step": step,
        "file": arrays.name,
        "size": arrays.stat().st_size,
        "sha256": _sha256(arrays),
        "extra": extra,
        "arrays": {name: describe(leaf) for name, leaf in leaves.items()},
    }
    with replacing(folder / f"{step:012}.json") as partial:
        partial.write_text(json.dumps(manifest, default=plain, allow_nan=False, indent=1), encoding="utf-8")
        _sync(partial)
    _sync(folder)


def _read(path: Path) -> dict[str, Any]:
    """The manifest in `path`, whose arrays are there and of the right size; otherwise an error of any of `_DAMAGE`."""
    manifest = json.loads(path.read_text(encoding="utf-8"))
    size = (path.parent / manifest["file"]).stat().st_size
    if size != manifest["size"]:
        raise ValueError(f"{manifest['file']} has {size:,} bytes instead of {manifest['size']:,}")
    return manifest


def _prune(folder: Path, step: int) -> None:
    """Leaves the last checkpoints up to `step`, and nothing of those that a kill cut short or a disk has damaged."""
    kept: list[str] = []
    for path in _newest_first(folder):
        if int(path.stem) <= step and len(kept) < 2 * KEPT:
            with contextlib.suppress(*_DAMAGE):
                kept += [path.name, _read(path)["file"]]
    # Manifests go first: one without its arrays would be a damaged checkpoint.
    for path in sorted(folder.iterdir(), key=lambda path: path.suffix != ".json"):
        if path.name not in kept:
            path.unlink()


def _newest_first(folder: Path) -> list[Path]:
    return sorted(folder.glob("[0-9]*.json"), reverse=True)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Waits until a file, or a folder's list of files, is on the disk itself."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

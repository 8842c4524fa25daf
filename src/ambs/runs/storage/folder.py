"""The folder of a run: one process at a time writes to it, and it is resumed with the configuration it began with.

What is in it is described in docs/run-folder.md.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from ambs.errors import AmbsError
from ambs.files import write_text
from ambs.runs.as_before import AS_BEFORE
from ambs.runs.options import flat

# What does not decide what the agent learns from the steps it has already made. Names are dotted: "train.steps".
MAY_CHANGE = frozenset({"steps", "log_every", "checkpoint_every", "tensorboard", "progress", "workers", "devices"})

_ABSENT = "absent"
# What a start that was cut short can leave.
_BEFORE_CONFIG = {"lock", "config.json.partial"}


class RunFolder:
    """A run's folder, locked; `RunFolder.open` makes one or goes on with it.

    Attributes:
        path: where it is.
        resumed: whether it had been begun before.
        changed: the options that are not what they were, as `compare` has them; all of them may change.
    """

    def __init__(self, path: Path, lock: int, resumed: bool, changed: dict[str, tuple[Any, Any]]) -> None:
        self.path, self.resumed, self.changed = path, resumed, changed
        self._lock: int | None = lock

    @classmethod
    def open(cls, path: Path, config: Mapping[str, Any], *, may_change: Collection[str] = MAY_CHANGE) -> RunFolder:
        """Makes the folder and saves the configuration in it; or compares it with the one that is there.

        Args:
            path: A folder that is a run, or empty, or not there yet.
            config: What JSON can hold, nested as you like.
            may_change: Options, by dotted name, that a resumed run takes as they are now; others have to be the same.
        """
        try:
            path.mkdir(parents=True, exist_ok=True)
            _require_run_or_empty(path)
            lock = _lock(path)
            try:
                return cls(path, lock, *_settle(path, config, may_change))
            except BaseException:
                os.close(lock)
                raise
        except OSError as error:
            raise AmbsError(
                f"the run folder {path} cannot be used: {error.strerror}; choose another folder with --run."
            ) from error

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def replay(self) -> Path:
        return self.path / "replay"

    def close(self) -> None:
        """Lets others write to it. The system does so by itself when the process ends, however it ends."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_config(path: Path) -> dict[str, Any]:
    """The configuration of the run in `path`, or an error that it is none."""
    file = path / "config.json"
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise AmbsError(f"{path} is not a run: it has no config.json.") from error
    except (OSError, ValueError) as error:
        raise AmbsError(f"{file} cannot be read ({error}); without it the run cannot be used.") from error
    if not isinstance(config, dict):
        raise AmbsError(f"{file} is not the configuration of a run.")
    return config


def compare(saved: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Every option that differs, by dotted name: what it was, and what it is now.

    An option that is left out is as it was before there was such an option.
    """
    was, is_now = flat(saved), flat(now)
    both = {
        name: tuple(options.get(name, AS_BEFORE.get(name, _ABSENT)) for options in (was, is_now))
        for name in [*was, *(name for name in is_now if name not in was)]
    }
    return {name: (one, other) for name, (one, other) in both.items() if one != other}


def _settle(path: Path, config: Mapping[str, Any], may_change: Collection[str]) -> tuple[bool, dict[str, Any]]:
    """Whether the run is resumed, and what has changed since; `config.json` is `config` in the end."""
    # As it will be read again: tuples are lists there.
    now = json.loads(json.dumps(config))
    resumed = (path / "config.json").exists()
    changed = compare(read_config(path), now) if resumed else {}
    for name, (was, is_now) in changed.items():
        if name not in may_change:
            begun = any((path / "checkpoints").glob("*.json"))
            raise AmbsError(
                f"{name} was {json.dumps(was)} when the run {path} was started and is now {json.dumps(is_now)}; "
                "leave it as it was, or start a new run in another folder"
                + ("." if begun else " (or remove this one, which has no checkpoint yet).")
            )
    if changed or not resumed:
        write_text(path / "config.json", json.dumps(now, indent=2) + "\n")
    return resumed, changed


def _require_run_or_empty(path: Path) -> None:
    names = {one.name for one in path.iterdir()}
    if "config.json" not in names and names - _BEFORE_CONFIG:
        raise AmbsError(f"{path} is neither a run nor empty; choose another folder with --run.")


def _lock(path: Path) -> int:
    """A lock that ends with the process; its file says whose it is."""
    descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
        os.close(descriptor)
        raise AmbsError(
            f"the run {path} is being written by another process (number {owner}); wait for it, or choose another "
            "folder with --run."
        ) from error
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    return descriptor

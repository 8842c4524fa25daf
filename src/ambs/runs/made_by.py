"""What made a run: versions, the commit of the source, and the machine; without names of hosts, and without paths but
those that were typed in its command.

It is told in `summary.json` and in checkpoints. It is no part of a run's configuration, so nothing is compared by it;
and whatever cannot be found out is null: no run may fail for it.
"""

from __future__ import annotations

import contextlib
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

import ambs
from ambs.cores import cores

Maker = dict[str, Any]
# Git answers in milliseconds; on a network drive that hangs, a run should not.
_SECONDS = 10.0


def made_by() -> Maker:
    """Of this process."""
    commit, changed = _source(Path(ambs.__file__).parent)
    return {
        "ambs": ambs.__version__,
        "commit": commit,
        "changed": changed,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "machine": {"cpu": _cpu(), "cores": os.cpu_count(), "may_use": _may_use(), "device": _device()},
    }


def makers(manifest: Mapping[str, Any] | None) -> list[Maker | None]:
    """Of the processes that have brought a run to its checkpoint, each once; None stands for a version of ambs that
    did not tell."""
    return [] if manifest is None else list(manifest["extra"].get("made_by", [None]))


def and_now(before: Sequence[Maker | None], command: str | None = None) -> list[Maker | None]:
    """With this process, which goes on, told to by this command. The same with another command, as for more steps, is
    no other maker."""
    now = made_by()
    others = [each for each in before if each is None or {**each, "command": None} != {**now, "command": None}]
    return [*others, {**now, **({} if command is None else {"command": command})}]


def told(by: Sequence[Maker | None]) -> dict[str, Any]:
    """For a summary: who ended the run, and under `earlier` others with a part in it; nothing if that is not known."""
    *earlier, last = by or [None]
    if last is None:
        return {}
    return {"made_by": {**last, **({"earlier": earlier} if earlier else {})}}


def _source(package: Path) -> tuple[str | None, bool | None]:
    """The commit that the package is of, and whether it has been changed since; None if it is in no Git repository."""
    # An installed package may lie in the folder of another project: it has to be a file of the repository itself.
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None, None
    commit, changes = _git(package, "rev-parse", "--short", "HEAD"), _git(package, "status", "--porcelain", "--", ".")
    return commit, None if changes is None else bool(changes)


def _git(folder: Path, *words: str) -> str | None:
    # Those of a hook would lead to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # What it is asked never asks back, and never writes.
    command = ["git", "--no-optional-locks", "-C", str(folder), *words]
    with contextlib.suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS
        )
        return done.stdout.strip() if done.returncode == 0 else None
    return None


def _cpu() -> str | None:
    """Its model, where the system tells (Linux); else its kind."""
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or None


def _may_use() -> int | None:
    with contextlib.suppress(OSError):
        return len(cores())
    return None


def _device() -> str | None:
    """What JAX computes with, as it calls it: "cpu", or the model of an accelerator."""
    with contextlib.suppress(RuntimeError, IndexError):
        return str(jax.devices()[0].device_kind)
    return None

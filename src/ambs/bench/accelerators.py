"""The GPUs that runs on this machine may have, found without asking JAX: in this process it would take one of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.metadata import entry_points

# The driver answers in a second or two; one that hangs is none.
_SECONDS = 30.0


def accelerators() -> list[str]:
    """As CUDA_VISIBLE_DEVICES calls them; none, where runs compute on the CPU."""
    platforms = os.environ.get("JAX_PLATFORMS", "").lower().replace(",", " ").split()
    if platforms and not {"cuda", "gpu"} & set(platforms):
        return []
    # A GPU that the installed JAX cannot use is no reason to leave cores idle.
    if not any("cuda" in plugin.name for plugin in entry_points(group="jax_plugins")):
        return []
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    return _there() if given is None else _of(given)


def _of(given: str) -> list[str]:
    """As CUDA reads it: from the first that is no device on, there are none."""
    found: list[str] = []
    for name in map(str.strip, given.split(",")):
        if not name or name.startswith("-"):
            break
        found.append(name)
    return found


def _there() -> list[str]:
    """All that the driver knows, by number; a line each, with those that they are divided into below."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    try:
        told = subprocess.run(
            [program, "-L"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_SECONDS, check=True
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return []
    return [str(number) for number in range(sum(line.startswith("GPU ") for line in told.stdout.splitlines()))]

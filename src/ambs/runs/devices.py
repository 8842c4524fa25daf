"""Where JAX keeps what it has compiled, so that a run that starts again does not wait for the same programs again."""

from __future__ import annotations

import os
from pathlib import Path

import jax


def cache_folder() -> Path | None:
    """AMBS_CACHE if it is set, and no folder if it is empty; otherwise `ambs/xla` in the user's folder for caches."""
    given = os.environ.get("AMBS_CACHE")
    if given is not None:
        return Path(given) if given else None
    users = os.environ.get("XDG_CACHE_HOME")
    return (Path(users) if users else Path.home() / ".cache") / "ambs" / "xla"


def keep_compiled() -> None:
    """Lets JAX keep compiled programs on disk, and find them there. It goes on without if it cannot."""
    folder = cache_folder()
    if folder is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # Starting a run compiles hundreds of small programs besides the large one; all of them together take long too.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)

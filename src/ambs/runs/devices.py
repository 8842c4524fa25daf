"""What JAX computes with: threads, and programs kept from earlier, so that a second start need not wait for them."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import jax

from ambs.cores import ONE_THREAD, with_flags

# Bytes of compiled programs that stay when the next run starts: some hundred runs of different sizes.
MOST = 2 * 10**9


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
    forget(folder, MOST)
    jax.config.update("jax_compilation_cache_dir", str(folder))
    # Starting a run compiles hundreds of small programs besides the large one; all of them together take long too.
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)


def without_threads() -> None:
    """Asks XLA to compute on one core of a CPU: with small networks, to share work out takes longer than to do it.

    Of use only before anything has been computed; what the user says of it in XLA_FLAGS stands.
    """
    os.environ["XLA_FLAGS"] = with_flags(os.environ.get("XLA_FLAGS", ""), ONE_THREAD)


def forget(folder: Path, most: int) -> None:
    """Removes the programs that have not been used for longest, until the others take no more than `most` bytes.

    JAX can do so itself only with a package that we do not need otherwise, and then takes a lock at every program.
    """
    found = []
    with contextlib.suppress(OSError):
        found = [(path, path.stat()) for path in folder.glob("*-cache")]
    # When it was read last, where the file system notes that; otherwise when it was written.
    found.sort(key=lambda each: max(each[1].st_atime, each[1].st_mtime), reverse=True)
    kept = 0
    for path, entry in found:
        kept += entry.st_size
        if kept > most:
            # Another run may have removed it in the meantime.
            with contextlib.suppress(OSError):
                path.unlink()

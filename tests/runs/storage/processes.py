"""Runs a function in a process of its own, to be killed or to be short of disk, quickly enough to do so many times."""

from __future__ import annotations

import multiprocessing
import resource
import time
from collections.abc import Callable
from typing import Any

# A server that has imported everything once, from which each process forks; it has no threads that a fork could break.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.replay.writer", "tests.runs.storage.saver"])


def kill_after(seconds: float, function: Callable[..., None], *arguments: Any) -> None:
    """Kills it -9, `seconds` after it has set the event that is its last argument."""
    started = CONTEXT.Event()
    process = CONTEXT.Process(target=function, args=(*arguments, started), daemon=True)
    process.start()
    assert started.wait(60)
    time.sleep(seconds)
    process.kill()
    process.join()
    assert process.exitcode == -9, "it was still at work"


def short_of_disk(file_size: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """What it returns where no file can grow larger than `file_size`."""
    mine, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_limited, args=(theirs, file_size, function, *arguments), daemon=True)
    process.start()
    theirs.close()
    try:
        return mine.recv()
    finally:
        process.join()
        assert process.exitcode == 0, "it ended by itself"


def _limited(pipe: Any, file_size: int, function: Callable[..., Any], *arguments: Any) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_size, file_size))
    pipe.send(function(*arguments))

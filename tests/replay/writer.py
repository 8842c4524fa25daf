"""A run that is only a replay and its checkpoints, to be killed."""

from pathlib import Path

import numpy as np

from ambs import AmbsError
from ambs.files import write_text
from ambs.replay import Ring
from tests.replay.oracle import LAYOUT, row


def checkpoint(folder: Path) -> int:
    """How many rows there were at the last checkpoint."""
    return int((folder / "written").read_text()) if (folder / "written").exists() else 0


def write_for_ever(folder: Path, base: int, started) -> None:
    """Goes on from the last checkpoint; its rows are stamped with `base` and their number."""
    ring = Ring.open(folder, LAYOUT, 400, 2, written=checkpoint(folder), segment=64)
    while True:
        ring.add(row(base + ring.written, 2))
        if ring.written % 150 == 0:
            ring.flush()
            write_text(folder / "written", str(ring.written))
            # From now on it may be killed: every life makes some way, however slow the machine.
            started.set()


def write_until_refused(folder: Path) -> tuple[int, str]:
    """How many rows of a thousand bytes there was room for, and what was said then."""
    ring = Ring.open(folder, {"obs": ((1000,), "uint8")}, 100, 1, segment=10)
    try:
        for _ in range(100):
            ring.add({"obs": np.ones((1, 1000), np.uint8)})
    except AmbsError as error:
        return ring.written, str(error)
    return ring.written, "never refused"

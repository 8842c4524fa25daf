"""A run that does nothing but save checkpoints, to be killed."""

from pathlib import Path

import numpy as np

from ambs import AmbsError
from ambs.files import write_text
from ambs.runs.storage import latest, save


def tree_at(step: int) -> dict[str, np.ndarray]:
    """A tree that the step decides, of a megabyte, so that a kill can hit the middle of it."""
    return {"weights": np.full((512, 512), step, np.float32), "steps": np.array(step)}


def save_for_ever(folder: Path, interval: int, started) -> None:
    """Goes on from the last checkpoint; the file `done` says how far it came, checkpoint or not."""
    manifest = latest(folder / "checkpoints")
    step = manifest["step"] if manifest else 0
    while True:
        step += interval
        write_text(folder / "done", str(step))
        save(folder / "checkpoints", step, tree_at(step), {"violations": step // 10})
        # From now on it may be killed: every life makes some way, however slow the machine.
        started.set()


def save_once(folder: Path, step: int) -> str:
    """What was said if it could not be saved."""
    try:
        save(folder, step, tree_at(step), {})
    except AmbsError as error:
        return str(error)
    return "saved"

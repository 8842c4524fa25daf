"""How many rows of the replay have to outlive a kill, so that a resumed run draws the very batches it would have drawn.

The checkpoint that a run goes on from may be the last but one, if the last is damaged: two intervals of steps are made
again then. An episode has a row for its reset too, which is no step, and may be one step long: two rows a step. And all
environments step at once: an interval may be longer by one step of each.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path


def margin_for(checkpoint_every: int, envs: int) -> int:
    """Rows of all environments together, beyond the replay's capacity."""
    return 4 * (checkpoint_every + envs)


def interval_for(checkpoint_every: int, envs: int, replay: Path) -> int:
    """How often to save: as often as asked for; more often, with a warning, where the replay's margin is too small.

    A replay keeps the margin that it was made with, and a run that is resumed may ask for longer intervals.
    """
    margin = json.loads((replay / "ring.json").read_text(encoding="utf-8"))["margin"]
    longest = max(1, margin // 4 - envs)
    if checkpoint_every > longest:
        warnings.warn(
            f"checkpoint_every is {checkpoint_every:,}, and the replay was made for at most {longest:,}, so a "
            f"checkpoint is saved every {longest:,} steps.",
            stacklevel=2,
        )
    return min(checkpoint_every, longest)

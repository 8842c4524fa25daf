"""What a run computes in stays what it was when the run began, on whatever device it goes on.

The precision "auto" is another on a CPU than on an accelerator. A run that began on one and goes on on the other would
change its numbers half-way, and what the agent remembers is kept in them.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Mapping
from typing import Any

from ambs.runs.dreamer.config import RunConfig

# What the agent remembers of its episodes is in the precision that the run computes in.
_REMEMBERED = "['memory'].state.h"


def keep_precision(config: RunConfig, manifest: Mapping[str, Any] | None) -> RunConfig:
    """The configuration with the precision of the checkpoint; with a warning, if it would have been another here."""
    if manifest is None:
        return config
    # Checkpoints of before the precision was saved tell it by what they hold.
    stored = manifest["extra"].get("precision") or manifest["arrays"][_REMEMBERED]["dtype"]
    here = config.learner.dtype
    if stored == here:
        return config
    warnings.warn(
        f"the run began in {stored} and goes on in it, though one that begins on this device would compute in {here}; "
        "to change that, start a new run in another folder.",
        stacklevel=2,
    )
    return dataclasses.replace(config, learner=dataclasses.replace(config.learner, precision=stored))

"""All of a game at one moment, so that it can be gone back to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ale_py
from jaxtyping import UInt8
from numpy import ndarray

from ambs.envs.atari.labels.labeller import Frame


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that decides what happens next in a game, and the picture that the emulator would otherwise forget."""

    game: str
    emulator: ale_py.ALEState
    seen: Frame
    """What the labeller has seen of the last frame."""
    held: int
    """The action in force, which a sticky frame repeats."""
    frames: int
    """How many frames the episode has had."""
    over: bool
    screen: UInt8[ndarray, "210 160 3"]
    generator: Mapping[str, Any]
    """What chance will draw: sticky frames, and the no-ops after a reset."""

"""What a labeller is: two pure functions, one that looks at a frame and one that compares it with the frame before.

Almost every label of these games is an event: something that was not so a sixtieth of a second ago. So what has to be
remembered is what was seen on the frame before, and nothing else; it is a tuple of numbers that the environment keeps,
saves and restores, and that is made anew after a reset, when there is no frame before.

Bytes of memory are numbered as `ALEInterface.getRAM` has them: 0 to 127.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

# What a labeller has seen of one frame: a tuple, of a kind of its own for each game.
Frame = tuple[int, ...]


@dataclass(frozen=True)
class Labeller:
    """The labels of one game."""

    atoms: Mapping[str, str]
    """Atom → what makes it true, in a few words."""
    condition: Mapping[str, str]
    """Atom → the same in bytes of memory, for the documentation."""
    look: Callable[[memoryview, int, bool, Any], Frame]
    """What matters of a frame: from the memory, the lives, whether the game is over, and what was seen on the frame
    before (None after a reset)."""
    labels: Callable[[Any, Any], tuple[bool, ...]]
    """The atoms' truth, in their order: from what was seen on the frame before and on this one."""

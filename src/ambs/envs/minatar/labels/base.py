"""What a labeller is: made before a step, it keeps what the step will change, and says after it what became true."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any


class Labeller(ABC):
    """The labels of one step of one game."""

    @abstractmethod
    def __init__(self, game: Any) -> None:
        """Looks at the game before the step."""

    @abstractmethod
    def labels(self, game: Any, action: str) -> dict[str, bool]:
        """The labels after the step, in which `action` was played in the end: one of MinAtar's letters n l u r d f."""

    @staticmethod
    @abstractmethod
    def at_start(game: Any) -> dict[str, bool]:
        """The labels of the first state, into which no step led."""

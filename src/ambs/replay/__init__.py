"""The replay: the last steps of every environment, on disk; sequences and transitions are drawn from them."""

from ambs.replay.layout import Field, Layout
from ambs.replay.ring import Ring
from ambs.replay.transitions import Drawn, Priorities

__all__ = ["Drawn", "Field", "Layout", "Priorities", "Ring"]

"""The replay: the last steps of every environment, on disk, and sequences drawn from them."""

from ambs.replay.layout import Field, Layout
from ambs.replay.ring import Ring

__all__ = ["Field", "Layout", "Ring"]

"""An independent word on why something happened in a MinAtar game: the line of the game's own source that did it.

Whenever the game assigns to the watched variable, the condition right above the assignment is noted. That knows nothing
of how the labels are computed, and misses no cause even when several come together.
"""

import linecache
import sys


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _condition(file: str, number: int) -> str:
    """The nearest line above that is indented less."""
    own = _indent(linecache.getline(file, number))
    while _indent(line := linecache.getline(file, number)) >= own or not line.strip():
        number -= 1
    return line.strip()


def watch(game, variable: str) -> list[str]:
    """The conditions under which `variable` is assigned to from now on; the list grows while the game is played."""
    conditions: list[str] = []

    def assign(self, value) -> None:
        frame = sys._getframe(1)
        if self is game and frame.f_code.co_name == "act":
            conditions.append(_condition(frame.f_code.co_filename, frame.f_lineno))
        vars(self)[variable] = value

    watched = property(lambda self: vars(self)[variable], assign)
    game.__class__ = type("Watched", (type(game),), {variable: watched})
    return conditions

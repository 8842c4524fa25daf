"""Maps of the conveyor world, drawn with characters, and the reader that checks them.

    #  wall        S  start, exactly one        ^ > v <  a belt, and where it carries the robot
    .  floor       G  goal, at least one        A        a vat of acid

Rows have one length, and what lies beyond the edge is wall. A belt has to lead somewhere: one that runs into a wall,
or round in a circle, would hold the robot for ever and is refused. Messages count lines and columns of the drawing
from 1.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int

from ambs.errors import AmbsError

# Down and right, in the order of the actions up, right, down, left.
MOVES = {"^": (-1, 0), ">": (0, 1), "v": (1, 0), "<": (0, -1)}
LEGEND = "#.SGA^>v<"

Cell = tuple[int, int]


@dataclass(frozen=True)
class Layout:
    """A map that has been checked. Its states are the cells that are not wall, in reading order."""

    rows: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_tiles(self.rows)
        _check_belts(self)
        _check_goal(self)

    @property
    def height(self) -> int:
        return len(self.rows)

    @property
    def width(self) -> int:
        return len(self.rows[0])

    @property
    def states(self) -> int:
        return len(self.cells)

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Row and column of every state, counted from 0."""
        return tuple((r, c) for r, line in enumerate(self.rows) for c, tile in enumerate(line) if tile != "#")

    @cached_property
    def tiles(self) -> str:
        """The character of every state."""
        return "".join(self.rows).replace("#", "")

    @cached_property
    def index(self) -> dict[Cell, int]:
        """The state of every cell that is not wall."""
        return {cell: state for state, cell in enumerate(self.cells)}

    @property
    def start(self) -> int:
        return self.tiles.index("S")

    @cached_property
    def destinations(self) -> Int[np.ndarray, "states 5"]:
        """The state that up, right, down, left and staying lead to.

        Walls stop the robot, belts carry it whatever the direction, and from acid and from the goal every direction
        is the way back to the start.
        """
        table = np.empty((self.states, 5), dtype=int)
        for state, (tile, cell) in enumerate(zip(self.tiles, self.cells, strict=True)):
            if tile in "AG":
                table[state] = self.start
            elif tile in MOVES:
                table[state] = self.index[beside(cell, tile)]
            else:
                table[state] = [self.index.get(beside(cell, way), state) for way in MOVES] + [state]
        return table


def beside(cell: Cell, way: str) -> Cell:
    """The cell next to `cell` in the direction `way`, one of ^ > v <."""
    return cell[0] + MOVES[way][0], cell[1] + MOVES[way][1]


def load_map(source: str | Sequence[str]) -> Layout:
    """The map of that name, or the map that is drawn: lines in one string, or a string a row."""
    if not isinstance(source, str):
        return Layout(tuple(source))
    drawing = MAPS.get(source, source)
    if drawing is source and "\n" not in source and not set(source) <= set(LEGEND):
        raise AmbsError(
            f'there is no map "{source}"; the maps are {", ".join(MAPS)}, and your own is drawn with {LEGEND}.'
        )
    lines = textwrap.dedent(drawing).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    while lines and not lines[0].strip():
        lines.pop(0)
    return Layout(tuple(line.rstrip() for line in lines))


def _check_tiles(rows: tuple[str, ...]) -> None:
    if not rows or not rows[0]:
        raise AmbsError(f"the map is empty; draw it with {LEGEND}.")
    for number, line in enumerate(rows, start=1):
        for column, tile in enumerate(line, start=1):
            if tile not in LEGEND:
                raise AmbsError(f"line {number}, column {column} of the map is {tile!r}; a map is drawn with {LEGEND}.")
        if len(line) != len(rows[0]):
            raise AmbsError(
                f"line {number} of the map has {len(line)} characters and line 1 has {len(rows[0])}; all rows have to "
                "have one length, filled up with # if need be."
            )
    starts, goals = ("".join(rows).count(tile) for tile in "SG")
    if starts != 1:
        raise AmbsError(f"the map has {starts or 'no'} start{'s' * (starts > 1)}; mark exactly one cell with S.")
    if not goals:
        raise AmbsError("the map has no goal; mark at least one cell with G.")


def _check_belts(layout: Layout) -> None:
    for first in layout.cells:
        cell, ridden = first, set[Cell]()
        while (tile := layout.tiles[layout.index[cell]]) in MOVES:
            where = f"the belt at line {cell[0] + 1}, column {cell[1] + 1} of the map"
            ridden.add(cell)
            cell = beside(cell, tile)
            if cell not in layout.index:
                raise AmbsError(f"{where} runs into a wall and would hold the robot for ever; let it end on a cell.")
            if cell in ridden:
                raise AmbsError(f"{where} runs in a circle and would hold the robot for ever; let it end on a cell.")


def _check_goal(layout: Layout) -> None:
    reached = {layout.start}
    frontier = [layout.start]
    while frontier:
        following = set(layout.destinations[frontier].ravel().tolist()) - reached
        reached |= following
        frontier = list(following)
    if not any(layout.tiles[state] == "G" for state in reached):
        raise AmbsError("no way leads from the start of the map to a goal; open one between the walls and belts.")


# The quick way to the goal passes a hazard where a slip is fatal, and a longer way never touches it; `tests/envs/` has
# the exact numbers of both.
MAPS = {
    # Past the vats it is ten steps; with an empty row between, twelve.
    "small": """
        ###########
        #.........#
        #.........#
        #S.>>AAA.G#
        ###########
    """,
    # The paper's Figure 1: two steps ahead of the robot are the left vat and the head of a belt, and not yet the vat
    # that the belt leads to.
    "figure1": """
        ############
        #....>>>>A##
        #.A.S.....G#
        #..........#
        #..........#
        ############
    """,
    # The acid is walled in: only the belt gets there, and it takes at least seven cells for it. Whoever looks fewer
    # than eight steps ahead sees no danger anywhere on the floor.
    "long-belt": """
        ###############
        ####>>>>>>>>>A#
        ####^^^^#######
        #S...........G#
        #..#########..#
        #.............#
        ###############
    """,
    # Three ways that a slip makes fatal in different numbers of steps, and a fourth along a belt that looks like the
    # deadly ones and is the only safe way.
    "hard": """
        ################
        #..............#
        #..>>>>>>>>>>..#
        #..##########..#
        #..#A<<<<<<<#..#
        #..#AA###^^^#..#
        #S............G#
        #..####AAA###..#
        #..............#
        #..#v####A###..#
        #..#>>>>>^###..#
        #..##########..#
        #..>>>>>>>>>A..#
        #..............#
        ################
    """,
}

"""The conveyor world's dynamics as tables: where each direction leads, and how likely a slip makes each of them.

`Conveyor.step` samples from these tables and `Conveyor.mdp` multiplies them out, so what is simulated and what is
computed exactly cannot differ.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from jaxtyping import Bool, Float

from ambs.envs.maps import MOVES, Layout
from ambs.errors import AmbsError
from ambs.logic import FiniteModel

ACTIONS = ("up", "right", "down", "left", "stay")
STAY = ACTIONS.index("stay")


def slips(slip: float) -> Float[np.ndarray, "5 5"]:
    """How likely an action (row) moves the robot in a direction (column): 1-p ahead, p/2 to either side.

    Staying never slips.
    """
    if not 0 <= slip < 1:
        raise AmbsError(f"slip is {slip:g}, and has to be a probability in [0, 1), 1 excluded.")
    table = np.eye(len(ACTIONS))
    for action in range(STAY):
        table[action, action] = 1 - slip
        table[action, [(action + 1) % STAY, (action - 1) % STAY]] = slip / 2
    return table


def labels(layout: Layout) -> dict[str, Bool[np.ndarray, " states"]]:
    """The states that have each atom."""
    tiles = np.array(list(layout.tiles))
    return {"acid": tiles == "A", "goal": tiles == "G", "belt": np.isin(tiles, list(MOVES))}


def finite_model(layout: Layout, slip: float) -> FiniteModel:
    """The world as a finite MDP: p(s' | s, a) = Σ_d p(d | a) 1{d leads from s to s'}."""
    arrives = np.eye(layout.states)[layout.destinations]
    kernel = np.einsum("ad,sdt->sat", slips(slip), arrives)
    return dataclasses.replace(
        FiniteModel.mdp(kernel, labels(layout), layout.start),
        actions=list(ACTIONS) * layout.states,
        valuations=[f"({row},{column})" for row, column in layout.cells],
        variables=["row", "column"],
    )

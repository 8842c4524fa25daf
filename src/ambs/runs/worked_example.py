"""The shield's question on a chain small enough to draw: formula, exact value, sampled estimate, decision.

A robot walks a corridor of four tiles to its goal. Beside it runs a conveyor belt that ends in a vat of acid;
the robot may slip onto it, stepping off gets harder the further it carries, and nobody leaves its last tile
(the paper's Figure 1, as a Markov chain: the robot and its task policy together). In which states may the
task policy go on, if acid within 30 steps is tolerated with probability at most 0.1?
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Bool, Int
from rich.progress import track

from ambs.logic import FiniteModel, check, look_ahead, parse, satisfies
from ambs.logic.syntax import ProbabilityBound
from ambs.shield import Fixed, Ladder

FORMULA = "P>=0.9 [ G<=30 !acid ]"
NAMES = ("tile 1", "tile 2", "tile 3", "tile 4", "belt 1", "belt 2", "belt 3", "goal", "acid")
# From each state: where to, and how likely.
MOVES = {
    "tile 1": {"tile 1": 0.1, "tile 2": 0.9},
    "tile 2": {"tile 1": 0.1, "tile 3": 0.88, "belt 1": 0.02},
    "tile 3": {"tile 2": 0.1, "tile 4": 0.89, "belt 2": 0.01},
    "tile 4": {"tile 3": 0.1, "goal": 0.895, "belt 3": 0.005},
    "belt 1": {"tile 2": 0.9, "belt 2": 0.1},
    "belt 2": {"tile 3": 0.4, "belt 3": 0.6},
    "belt 3": {"acid": 1.0},
    "goal": {"goal": 1.0},
    "acid": {"acid": 1.0},
}


@dataclass(frozen=True)
class Row:
    """What was found in one state."""

    state: str
    exact: float
    satisfied: bool
    estimate: float
    traces: int
    accepted: bool
    traces_fixed: int
    accepted_fixed: bool


def corridor() -> FiniteModel:
    kernel = np.array([[MOVES[source].get(target, 0.0) for target in NAMES] for source in NAMES])
    return FiniteModel.chain(kernel, {name: np.array(NAMES) == name for name in ("acid", "goal")})


def sample_traces(
    chain: FiniteModel, state: int, traces: int, steps: int, rng: np.random.Generator
) -> Int[np.ndarray, "traces steps_and_one"]:
    """Traces of a chain, all at once, by inverse transform on the rows' cumulative sums."""
    cumulative = np.cumsum(chain.kernel.toarray(), axis=1)
    visited = np.full((traces, steps + 1), state)
    for step in range(steps):
        draw = rng.random((traces, 1))
        visited[:, step + 1] = (draw >= cumulative[visited[:, step]]).sum(axis=1).clip(max=chain.states - 1)
    return visited


def worked_example(seed: int) -> list[Row]:
    """Every living state of the corridor: exactly, and as the shield decides it from sampled traces."""
    chain = corridor()
    formula = parse(FORMULA)
    assert isinstance(formula, ProbabilityBound)
    exact = check(chain, formula)
    assert exact.values is not None
    assert exact.satisfied is not None
    steps = look_ahead(formula.path)
    assert steps is not None
    rng = np.random.default_rng(seed)
    ladder, fixed = Ladder.level("A"), Fixed.paper()

    def draw(count: int, state: int) -> Bool[np.ndarray, " count"]:
        visited = sample_traces(chain, state, count, steps, rng)
        return satisfies(formula.path, {name: mask[visited] for name, mask in chain.labels.items()})

    rows = []
    for state in track(range(chain.states - 2), description="imagining futures", transient=True):
        verdict = ladder.decide(partial(draw, state=state))
        at_512 = fixed.decide(partial(draw, state=state))
        rows.append(
            Row(
                NAMES[state],
                float(exact.values[state]),
                bool(exact.satisfied[state]),
                verdict.estimate,
                verdict.samples,
                verdict.accepted,
                at_512.samples,
                at_512.accepted,
            )
        )
    return rows

"""Bounded prescience (Giacobbe et al.): a simulator that can be saved and restored, searched for a safe way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ambs.errors import positive_integer
from ambs.types import Decision


@runtime_checkable
class Simulator(Protocol):
    """The environment itself, or a copy: steps, tells whether a step broke the formula, and can be put back."""

    def get_state(self) -> Any: ...

    def set_state(self, state: Any) -> None: ...

    def safe_step(self, action: int) -> tuple[bool, bool]:
        """Plays one action: whether the state entered is safe, and whether the episode is over."""


class PrescienceShield:
    """Lets an action through if some path of `depth` steps that begins with it is safe in the simulator.

    The other end of the comparison: it needs the real environment as its model, and searches a tree, so the depth stays
    small. What it sees is one draw of each step: in a stochastic environment a path that was safe in the search need
    not be when it is played, and the dice it sees are those of the simulator it is given.

    Actions are tried in the order proposed, then `actions`; when none has a safe path, the proposed one is played, for
    there is no better.

    A decision's `traces` are the paths that were searched: each ends unsafe, at the end of the episode, or safe at
    `depth`. Paths share their beginnings, so what a decision cost is `steps`.

    Attributes:
        steps: how many steps the simulator was asked for by the latest decision.
    """

    def __init__(self, simulator: Simulator, actions: Sequence[int], depth: int = 5) -> None:
        self.simulator = simulator
        self.actions = list(actions)
        self.depth = positive_integer("the depth", depth)
        self.steps = 0
        self._paths = 0

    def __call__(self, state: Any, proposed: int, *, key: Any = None) -> Decision:
        """`state` and `key` are not used: the simulator is where the agent is."""
        self.steps = self._paths = 0
        saved = self.simulator.get_state()
        try:
            for action in [proposed, *(other for other in self.actions if other != proposed)]:
                self.simulator.set_state(saved)
                if self._safe_path(action, self.depth):
                    return self._decision(action, action != proposed, 1.0)
            return self._decision(proposed, False, 0.0)
        finally:
            self.simulator.set_state(saved)

    def _safe_path(self, action: int, depth: int) -> bool:
        """Depth first: one safe path is enough."""
        self.steps += 1
        safe, over = self.simulator.safe_step(action)
        if not safe or over or depth == 1:
            self._paths += 1
            return safe
        here = self.simulator.get_state()
        # Going on as before is the likeliest to be safe where the last step was.
        for following in [action, *(other for other in self.actions if other != action)]:
            self.simulator.set_state(here)
            if self._safe_path(following, depth - 1):
                return True
        return False

    def _decision(self, action: int, overridden: bool, estimate: float) -> Decision:
        return Decision(action, overridden, estimate, estimate, estimate, self._paths)  # type: ignore[arg-type]

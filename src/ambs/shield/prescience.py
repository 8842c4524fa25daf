"""Bounded prescience (Giacobbe et al.): a simulator that can be saved and restored, searched for a safe way."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ambs.errors import AmbsError, positive_integer
from ambs.types import Action, Decision


@runtime_checkable
class Simulator(Protocol):
    """The environment itself, or a copy: steps, tells whether a step broke the formula, and can be put back."""

    def get_state(self) -> Any: ...

    def set_state(self, state: Any) -> None: ...

    def safe_step(self, action: Action) -> tuple[bool, bool]:
        """Plays one action: whether the state entered is safe, and whether the episode is over."""


class PrescienceShield:
    """Lets an action through if some path of `depth` steps that begins with it is safe in the simulator.

    The other end of the comparison: it needs the real environment as its model, and searches a tree, so the depth stays
    small. What it sees is one draw of each step: in a stochastic environment a path that was safe in the search need
    not be when it is played, and the dice it sees are those of the simulator it is given.

    The proposed action is tried first, then the others in the order that the agent prefers them, so that what takes the
    place of a refused action is its next-best; if it is not told how the agent ranks them, in the order of `actions`.
    When none has a safe path, the proposed one is played, for there is no better.

    Where danger cannot be escaped the whole tree is searched, 18^5 steps of an Atari game. `most` bounds that: each
    action has an equal share of so many steps, and one whose share is used up counts as without a safe path. If the
    proposed one is played because of that, the estimate is NaN: nobody knows.

    A decision's `traces` are the paths that were searched: each ends unsafe, at the end of the episode, or safe at
    `depth`. Paths share their beginnings, so what a decision cost is `steps`.

    Attributes:
        steps: how many steps the simulator was asked for by the latest decision.
    """

    def __init__(
        self, simulator: Simulator, actions: Sequence[Action], depth: int = 5, *, most: int | None = None
    ) -> None:
        self.simulator = simulator
        self.actions = list(actions)
        self.depth = positive_integer("the depth", depth)
        # One path at least, so that an action can be found safe at all.
        share = None if most is None else positive_integer("most", most) // len(self.actions)
        self._share = math.inf if share is None else max(share, self.depth)
        self._until = math.inf
        self._cut_short = False
        self.steps = 0
        self._paths = 0

    def __call__(
        self, state: Any, proposed: Action, *, key: Any = None, preferences: Sequence[float] | np.ndarray | None = None
    ) -> Decision:
        """`state` and `key` are not used: the simulator is where the agent is.

        `preferences` has a number for each of `actions`, the higher the better. Those that are alike stay in the order
        of `actions`; what is no number comes last.
        """
        self.steps = self._paths = 0
        self._cut_short = False
        others = [action for action in self._ranked(preferences) if action != proposed]
        saved = self.simulator.get_state()
        try:
            for action in [proposed, *others]:
                if self.steps:
                    self.simulator.set_state(saved)
                self._until = self.steps + self._share
                if self._safe_path(action, self.depth):
                    return self._decision(action, action != proposed, 1.0)
            return self._decision(proposed, False, math.nan if self._cut_short else 0.0)
        finally:
            self.simulator.set_state(saved)

    def _ranked(self, preferences: Sequence[float] | np.ndarray | None) -> list[Action]:
        if preferences is None:
            return self.actions
        if len(preferences) != len(self.actions):
            raise AmbsError(
                f"there are {len(preferences)} preferences, and {len(self.actions)} actions; give one for each."
            )
        order = np.argsort(-np.asarray(preferences, float), kind="stable")
        return [self.actions[index] for index in order]

    def _safe_path(self, action: Action, depth: int) -> bool:
        """Depth first: one safe path is enough."""
        self.steps += 1
        safe, over = self.simulator.safe_step(action)
        if not safe or over or depth == 1:
            self._paths += 1
            return safe
        here = self.simulator.get_state()
        # Going on as before is the likeliest to be safe where the last step was.
        following = [action, *(other for other in self.actions if other != action)]
        for number, each in enumerate(following):
            if self.steps >= self._until:
                self._cut_short = True
                return False
            # The first goes on from where the simulator is.
            if number:
                self.simulator.set_state(here)
            if self._safe_path(each, depth - 1):
                return True
        return False

    def _decision(self, action: Action, overridden: bool, estimate: float) -> Decision:
        return Decision(action, overridden, estimate, estimate, estimate, self._paths)  # type: ignore[arg-type]

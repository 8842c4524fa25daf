"""The conveyor world: a robot, belts, vats of acid; the paper's Figure 1 made real.

The robot delivers parcels: it walks from the start to the goal, again and again, until the time is over.

- Actions are up, right, down, left and stay. A move slips with probability `slip`, half of it to either side of where
  it was meant to go; staying never slips. A wall, or the edge of the map, stops the robot where it is.
- On a belt nobody walks: whatever the action, the robot is carried one cell onward, and never slips.
- Reaching the goal pays 1. At the next step, whatever the action, the robot is back at the start, for the next parcel.
- Acid pays nothing and ends nothing: it costs the way back. At the next step the robot is back at the start.
- An episode never terminates; its time limit (100 steps for the registered ids) truncates it. So the return is the
  number of deliveries, and the state is just the cell.

Reward and safety pull apart: the quick way passes cells from which a slip is fatal, and an agent that is blind to cost
takes it, because an acid bath now and then costs it fewer steps than the way around.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from jaxtyping import Float

from ambs.envs.kernel import ACTIONS, finite_model, labels, slips
from ambs.envs.labels import cost_of
from ambs.envs.maps import load_map
from ambs.envs.observations import observer
from ambs.envs.render import PHASES, Painter
from ambs.errors import AmbsError
from ambs.logic import FiniteModel
from ambs.logic.syntax import Formula

RENDER_CELL = 40


@dataclass(frozen=True)
class Snapshot:
    """All that decides what happens next: where the robot is, and what its random generator will draw."""

    state: int
    time: int
    generator: Mapping[str, Any]


class Conveyor(gymnasium.Env[Any, Any]):
    """The conveyor world as a Gymnasium environment; its rules are at the top of this file.

    `info` has `labels` (`acid`, `goal`, `belt`), `cost` and `state`, the index of the robot's cell among the cells
    that are not wall, in reading order.

    Args:
        map: The name of a map (`ambs.envs.MAPS`), or your own, drawn as `ambs.envs.maps` explains.
        slip: The probability that a move goes astray.
        observation: `onehot`, a grid of channels; `image`, a colour a cell in 16×16 pixels; `rgb`, a picture of 64×64
            pixels; `state`, the index alone.
        formula: Ψ, propositional, over the labels: what has to hold in every state.
        cost: C, the cost of a state where it does not.
        render_mode: `rgb_array` or `ansi`.
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 6}  # noqa: RUF012  (as Gymnasium has it)

    def __init__(
        self,
        map: str | Sequence[str] = "small",
        *,
        slip: float = 0.1,
        observation: str = "onehot",
        formula: str | Formula = "!acid",
        cost: float = 10.0,
        render_mode: str | None = None,
    ) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise AmbsError(f'render_mode is "{render_mode}", and has to be rgb_array, ansi or None.')
        self.layout = load_map(map)
        self.slip = slip
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self._observe = observer(self.layout, observation)
        self.observation_space = self._observe.space
        self._directions = np.cumsum(slips(slip), axis=1)
        self._directions /= self._directions[:, -1:]
        self._labels = labels(self.layout)
        self._costs = cost_of(formula, self._labels, cost)
        self._painter = Painter(self.layout, RENDER_CELL)
        self._state = self.layout.start
        self._time = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._state = self.layout.start
        self._time = 0
        return self._observe(self._state), self._info()

    def step(self, action: int | np.integer) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if not self.action_space.contains(action):
            raise AmbsError(f"the action is {action}, and has to be 0 to 4: {', '.join(ACTIONS)}.")
        direction = np.searchsorted(self._directions[action], self.np_random.random(), side="right")
        self._state = int(self.layout.destinations[self._state, direction])
        self._time += 1
        reward = float(self._labels["goal"][self._state])
        return self._observe(self._state), reward, False, False, self._info()

    def render(self) -> Any:
        if self.render_mode == "rgb_array":
            return self._painter.picture(self._state, self._time % PHASES)
        if self.render_mode == "ansi":
            return self._text()
        gymnasium.logger.warn('nothing is drawn without a render_mode; make the environment with e.g. "rgb_array".')
        return None

    def mdp(self) -> FiniteModel:
        """The same world as a finite MDP, whose probabilities are those that `step` draws from."""
        return finite_model(self.layout, self.slip)

    def rewards(self) -> Float[np.ndarray, "states 5"]:
        """The expected reward of every action in every state: the probability that it reaches the goal."""
        return (self.mdp().kernel @ self._labels["goal"].astype(float)).reshape(-1, len(ACTIONS))

    def get_state(self) -> Snapshot:
        """What `set_state` needs to go on from here, draws of chance included. The time limit is the wrapper's."""
        return Snapshot(self._state, self._time, self.np_random.bit_generator.state)

    def set_state(self, state: Snapshot) -> None:
        """Goes back to when `get_state` was called: the same actions have the same outcomes again."""
        if not 0 <= state.state < self.layout.states:
            raise AmbsError(f"the state {state.state} is of another map; this one has 0 to {self.layout.states - 1}.")
        self._state = state.state
        self._time = state.time
        self.np_random.bit_generator.state = state.generator

    def safe_step(self, action: int | np.integer) -> tuple[bool, bool]:
        """One step as a prescience shield asks for it: whether the state entered is safe, and the episode over."""
        _, _, terminated, truncated, info = self.step(action)
        return info["cost"] == 0, terminated or truncated

    def _info(self) -> dict[str, Any]:
        return {
            "labels": {name: bool(mask[self._state]) for name, mask in self._labels.items()},
            "cost": float(self._costs[self._state]),
            "state": self._state,
        }

    def _text(self) -> str:
        """The map with the robot on it."""
        robot = self.layout.cells[self._state]
        return "\n".join(
            "".join("R" if (row, column) == robot else tile for column, tile in enumerate(line))
            for row, line in enumerate(self.layout.rows)
        )

"""A MinAtar game as a labelled Gymnasium environment.

The rules, and what chance decides in them, are MinAtar's own (`rules.py`). Sticky actions are done here as the package
does them, but that an episode starts with nothing to repeat: MinAtar carries the last action over from the episode
before, so that no episode can be replayed by itself.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from ambs.envs.labels import Costs
from ambs.envs.minatar.labels import LABELLERS
from ambs.envs.minatar.picture import draw
from ambs.envs.minatar.rules import Dice, load, restore, variables
from ambs.envs.minatar.specs import SPECS
from ambs.errors import AmbsError, probability
from ambs.logic.syntax import Formula

_SPECS = {spec.kwargs["game"]: spec for spec in SPECS}
_NOTHING = 0


@dataclass(frozen=True)
class Snapshot:
    """All that decides what happens next: the game's variables, the action that may stick, and the dice."""

    game: str
    variables: Mapping[str, Any]
    last_action: int
    generator: Mapping[str, Any]


class MinAtarGame(gymnasium.Env[Any, Any]):
    """One of MinAtar's games; `info` has `labels` and `cost`.

    An observation is the grid of zeros and ones that MinAtar gives, as bytes from 0 to 1: that they are no more tells a
    world model that they are not pixels.

    Args:
        game: `seaquest`, `freeway`, `asterix`, `space-invaders` or `breakout`.
        formula: Ψ, propositional, over the game's atoms: what has to hold in every state. If None, the catalogue's.
        cost: C, the cost of a state where it does not.
        sticky: The probability that the action before is played instead of the one given.
        difficulty_ramping: Whether the game gets harder with time, where MinAtar has that.
        full_actions: All six actions, nothing, left, up, right, down and fire, as MinAtar has it by default, or only
            those that do something in this game, in the same order.
        render_mode: `rgb_array` or None.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 10}  # noqa: RUF012  (as Gymnasium has it)

    def __init__(
        self,
        game: str,
        *,
        formula: str | Formula | None = None,
        cost: float = 10.0,
        sticky: float = 0.1,
        difficulty_ramping: bool = True,
        full_actions: bool = True,
        render_mode: str | None = None,
    ) -> None:
        if game not in _SPECS:
            raise AmbsError(f'game is "{game}", and has to be one of {", ".join(_SPECS)}.')
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise AmbsError(f'render_mode is "{render_mode}", and has to be rgb_array or None.')
        spec = _SPECS[game]
        self.name = game
        self.sticky = probability("sticky", sticky, closed=True)
        self.render_mode = render_mode
        self._costs = Costs(spec.formula if formula is None else formula, cost, atoms=spec.atoms)
        self._labeller = LABELLERS[game]
        self._game = load(game, ramping=difficulty_ramping)
        self._actions = range(6) if full_actions else self._game.minimal_action_set()
        self._last_action = _NOTHING
        self._begun = False
        self.action_space = gymnasium.spaces.Discrete(len(self._actions))
        self.observation_space = gymnasium.spaces.Box(0, 1, tuple(self._game.state_shape()), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self._game.random = Dice(self.np_random)
        self._game.reset()
        self._last_action, self._begun = _NOTHING, True
        return self._observe(), self._info(self._labeller.at_start(self._game))

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        chosen = self._chosen(action)
        if self._game.terminal or not self._begun:
            raise AmbsError("the episode is over, or has not begun; call reset() before step().")
        if not self._game.random.rand() < self.sticky:
            self._last_action = chosen
        labeller = self._labeller(self._game)
        reward, over = self._game.act(self._last_action)
        labels = labeller.labels(self._game, self._game.action_map[self._last_action])
        # Freeway is over when its time is, and by nothing that its state shows: that is a time limit.
        timed_out = self.name == "freeway" and over
        return self._observe(), float(reward), bool(over and not timed_out), bool(timed_out), self._info(labels)

    def render(self) -> Any:
        if self.render_mode == "rgb_array":
            return draw(self._observe(), self._game.channels)
        gymnasium.logger.warn('nothing is drawn without a render_mode; make the environment with "rgb_array".')
        return None

    def get_state(self) -> Snapshot:
        """What `set_state` needs to go on from here, draws of chance included. The time limit is the wrapper's."""
        return Snapshot(self.name, variables(self._game), self._last_action, self.np_random.bit_generator.state)

    def set_state(self, state: Snapshot) -> None:
        """Goes back to when `get_state` was called: the same actions have the same outcomes again."""
        if state.game != self.name:
            raise AmbsError(f"the saved state is one of {state.game}, and this is {self.name}.")
        restore(self._game, state.variables)
        self._last_action, self._begun = state.last_action, True
        self.np_random.bit_generator.state = state.generator
        self._game.random = Dice(self.np_random)

    def safe_step(self, action: Any) -> tuple[bool, bool]:
        """One step as a prescience shield asks for it: whether the state entered is safe, and the episode over."""
        _, _, terminated, truncated, info = self.step(action)
        return info["cost"] == 0, terminated or truncated

    def _chosen(self, action: Any) -> int:
        """MinAtar's number of the action. Asking the space whether it contains it takes as long as a step of a game."""
        try:
            index = operator.index(action)
        except TypeError:
            index = -1
        if not 0 <= index < len(self._actions):
            raise AmbsError(f"the action is {action}, and has to be a whole number from 0 to {len(self._actions) - 1}.")
        return self._actions[index]

    def _observe(self) -> np.ndarray:
        return self._game.state().astype(np.uint8)

    def _info(self, labels: dict[str, bool]) -> dict[str, Any]:
        return {"labels": labels, "cost": self._costs(labels)}

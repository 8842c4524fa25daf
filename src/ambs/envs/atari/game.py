"""A labelled Atari game: the paper's protocol, with the labels read on every emulated frame.

- One step is four frames of the same action, and its reward the sum of theirs.
- Actions are sticky: on every frame the action before stays in force with probability 0.25.
- The observation is the brighter of the last two frames at every pixel (the console draws some sprites on every other
  frame only), shrunk to 64×64 pixels.
- All 18 actions, whether the game tells them apart or not.
- After a reset, up to 30 frames without an action; what happens in them is not labelled.
- 108,000 frames at most; the episode is then truncated. It terminates when the game is over, not when a life is lost,
  and `info` does not tell the lives.

A step has an atom if any of its frames has, and it costs C, once, if the formula fails on any of its frames.

Stickiness is drawn here and not in the emulator, whose saved states lack the action in force.
"""

from __future__ import annotations

import itertools
from typing import Any

import ale_py
import cv2
import gymnasium
import numpy as np
from jaxtyping import UInt8

from ambs.envs.atari.games import find
from ambs.envs.atari.labels.labeller import Frame
from ambs.envs.atari.snapshot import Snapshot
from ambs.envs.labels import cost_of
from ambs.errors import AmbsError, positive_integer, probability
from ambs.logic.syntax import Formula

NOOP = 0


class AtariGame(gymnasium.Env[Any, Any]):
    """A labelled game as a Gymnasium environment; the protocol is at the top of this file.

    `info` has `labels`, atom → whether it was true on any frame of the step, and `cost`.

    Args:
        game: Its name: "seaquest"; `ambs.envs.atari.GAMES` has them all.
        formula: Ψ, propositional, over the game's atoms: what has to hold on every frame. By default the paper's.
        cost: C, the cost of a step with a frame where it does not.
        render_mode: `rgb_array`, the whole screen.
        sticky: The probability that a frame repeats the action before.
        frame_skip: How many frames a step has.
        size: Height and width of the observation, in pixels.
        grey: Whether it is without colour: one channel rather than three.
        full_actions: All 18 actions, or only those that the game tells apart.
        noops: At most so many frames without an action after a reset.
        max_frames: After so many frames the episode is truncated.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 15}  # noqa: RUF012  (as Gymnasium has it)

    def __init__(
        self,
        game: Any = "seaquest",
        *,
        formula: str | Formula | None = None,
        cost: Any = 10.0,
        render_mode: str | None = None,
        sticky: Any = 0.25,
        frame_skip: Any = 4,
        size: Any = 64,
        grey: bool = False,
        full_actions: bool = True,
        noops: Any = 30,
        max_frames: Any = 108_000,
    ) -> None:
        if render_mode not in (None, "rgb_array"):
            raise AmbsError(f'render_mode is "{render_mode}", and has to be rgb_array or None.')
        if isinstance(noops, bool) or not isinstance(noops, int) or noops < 0:
            raise AmbsError(f"noops is {noops!r}, and has to be a whole number of at least 0.")
        self.game = find(game)
        self.render_mode = render_mode
        self._sticky = probability("sticky", sticky, closed=True)
        self._frame_skip = positive_integer("frame_skip", frame_skip)
        self._size = positive_integer("size", size)
        channels = 1 if grey else 3
        self._noops = noops
        self._max_frames = positive_integer("max_frames", max_frames)
        self._labels = self.game.labeller.labels
        self._costs = _cost_table(
            self.game.formula if formula is None else formula, list(self.game.labeller.atoms), cost
        )
        self.ale = _emulator(self.game.rom)
        self._power_on = self.ale.cloneState(include_rng=True)
        actions = self.ale.getLegalActionSet() if full_actions else self.ale.getMinimalActionSet()
        self._actions = [int(action.value) for action in actions]
        self.action_space = gymnasium.spaces.Discrete(len(self._actions))
        self.observation_space = gymnasium.spaces.Box(0, 255, (self._size, self._size, channels), np.uint8)
        # The emulator writes into these, and a memoryview is read byte by byte far quicker than an array.
        self._ram = np.zeros(self.ale.getRAMSize(), np.uint8)
        self._bytes = self._ram.data
        self._screens = np.zeros((2, *self.ale.getScreenDims(), channels), np.uint8)
        self._take = self.ale.getScreenGrayscale if grey else self.ale.getScreenRGB
        self._saved_screen: UInt8[np.ndarray, "210 160 3"] | None = None
        self._held = NOOP
        self._frames = 0
        self._over = True
        self._seen = self._look(None)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is not None:
            # Some games find in memory what the episode before has left there.
            self.ale.restoreState(self._power_on)
        self.ale.reset_game()
        for _ in range(int(self.np_random.integers(self._noops, endpoint=True))):
            self.ale.act(NOOP)
            if self.ale.game_over():
                self.ale.reset_game()
        self._held, self._frames, self._over = NOOP, 0, False
        self._seen = self._look(None)
        self._saved_screen = None
        self._watch(0)
        return self._observation(1), self._info([self._labels(self._seen, self._seen)])

    def step(self, action: int | np.integer) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        frames, reward, screens = self._play(action, watch=True)
        return self._observation(screens), reward, self._over, self._truncated, self._info(frames)

    def safe_step(self, action: int | np.integer) -> tuple[bool, bool]:
        """One step as a prescience shield asks for it: whether it was safe, and the episode is over."""
        frames, _, _ = self._play(action, watch=False)
        return all(self._costs[frame] == 0 for frame in frames), self._over or self._truncated

    def render(self) -> Any:
        if self.render_mode == "rgb_array":
            return self._screen()
        gymnasium.logger.warn('nothing is drawn without a render_mode; make the environment with "rgb_array".')
        return None

    def get_state(self) -> Snapshot:
        """What `set_state` needs to go on from here: the emulator, the labeller's memory and the draws of chance."""
        return Snapshot(
            game=self.game.name,
            emulator=self.ale.cloneState(include_rng=True),
            seen=self._seen,
            held=self._held,
            frames=self._frames,
            over=self._over,
            screen=self._screen(),
            generator=self.np_random.bit_generator.state,
        )

    def set_state(self, state: Snapshot) -> None:
        """Goes back to when `get_state` was called: the same actions have the same outcomes again."""
        if state.game != self.game.name:
            raise AmbsError(f"the state is one of {state.game}, and this game is {self.game.name}.")
        self.ale.restoreState(state.emulator)
        self._seen, self._held, self._frames, self._over = state.seen, state.held, state.frames, state.over
        self._saved_screen = state.screen
        self.np_random.bit_generator.state = state.generator

    @property
    def _truncated(self) -> bool:
        return not self._over and self._frames >= self._max_frames

    def _play(self, action: int | np.integer, *, watch: bool) -> tuple[list[tuple[bool, ...]], float, int]:
        """The frames of one step: their labels, the sum of their rewards, and how many screens were kept."""
        if not self.action_space.contains(action):
            raise AmbsError(f"the action is {action}, and has to be 0 to {len(self._actions) - 1}.")
        if self._over:
            raise AmbsError("the game is over, or has not begun; call reset() before step().")
        stuck = (self.np_random.random(self._frame_skip) < self._sticky).tolist()
        frames: list[tuple[bool, ...]] = []
        reward, screens = 0.0, 0
        for index in range(self._frame_skip):
            if not stuck[index]:
                self._held = self._actions[action]
            reward += self.ale.act(self._held)
            was, self._seen = self._seen, self._look(self._seen)
            frames.append(self._labels(was, self._seen))
            self._over = self.ale.game_over()
            if watch and (self._over or index >= self._frame_skip - 2):
                self._watch(screens)
                screens += 1
            if self._over:
                break
        self._frames += len(frames)
        self._saved_screen = None
        return frames, reward, screens

    def _look(self, was: Frame | None) -> Frame:
        self.ale.getRAM(self._ram)
        return self.game.labeller.look(self._bytes, self.ale.lives(), self.ale.game_over(), was)

    def _info(self, frames: list[tuple[bool, ...]]) -> dict[str, Any]:
        labels = {
            atom: any(values) for atom, values in zip(self.game.labeller.atoms, zip(*frames, strict=True), strict=True)
        }
        return {"labels": labels, "cost": max(self._costs[frame] for frame in frames)}

    def _watch(self, screen: int) -> None:
        """Keeps the frame as the observation is to show it."""
        picture = self._screens[screen]
        self._take(picture if picture.shape[-1] == 3 else picture[..., 0])

    def _observation(self, screens: int) -> UInt8[np.ndarray, "size size channels"]:
        if screens == 2:
            np.maximum(self._screens[0], self._screens[1], out=self._screens[0])
        picture = cv2.resize(self._screens[0], (self._size, self._size), interpolation=cv2.INTER_AREA)
        # OpenCV drops a single channel.
        return picture.reshape(self._size, self._size, -1)

    def _screen(self) -> UInt8[np.ndarray, "210 160 3"]:
        """The last frame. The emulator has none to show after it was restored, until it emulates another."""
        return self.ale.getScreenRGB() if self._saved_screen is None else self._saved_screen.copy()


def _cost_table(formula: str | Formula, atoms: list[str], cost: float) -> dict[tuple[bool, ...], float]:
    """What each combination of labels costs; there are few of them and many frames."""
    combinations = list(itertools.product((False, True), repeat=len(atoms)))
    columns = dict(zip(atoms, np.array(combinations).T, strict=True))
    return dict(zip(combinations, cost_of(formula, columns, cost).tolist(), strict=True))


def _emulator(rom: str) -> ale_py.ALEInterface:
    """The console with the game inserted; one frame an act, and no stickiness of its own."""
    ale_py.ALEInterface.setLoggerMode(ale_py.LoggerMode.Error)
    ale = ale_py.ALEInterface()
    ale.setFloat("repeat_action_probability", 0.0)
    path = ale_py.roms.get_rom_path(rom)
    assert path is not None, rom
    ale.loadROM(path)
    return ale

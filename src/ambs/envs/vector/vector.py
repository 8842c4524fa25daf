"""The vector of environments: who is reset, who is stepped, and what becomes of an environment that crashed.

Autoreset is explicit: after a row with `is_last`, the next `step` ignores that environment's action, resets it and
delivers the observation of the reset with `is_first`. So every row belongs to exactly one episode, and no transition
leads from one episode into another.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space

from ambs.envs.vector.arrays import NOTHING, OBS, RESET, STEP, Description
from ambs.envs.vector.batch import Batch
from ambs.envs.vector.seeds import env_seed
from ambs.envs.vector.slots import Failure
from ambs.errors import AmbsError

# An environment that crashes more often than this before it has finished an episode will not get better.
PATIENCE = 3


class CrashWarning(UserWarning):
    """An environment crashed, was made anew, and its episode was closed."""


@runtime_checkable
class Backend(Protocol):
    """Where the environments are: in this process, or in several."""

    arrays: dict[str, np.ndarray[Any, Any]]

    def run(self, seeds: Mapping[int, int]) -> list[Failure]:
        """Does what the array "todo" says; environments in `seeds` are made anew and seeded first."""
        ...

    def close(self) -> None: ...


class VectorEnv:
    """N environments that are alike, stepped together; `ambs.envs.vector.make_vec` makes one.

    A crashed environment is made anew, with a warning. If it was in the middle of an episode, that episode is closed by
    a row that nobody's action led to: the last observation again, reward 0, cost 0, no label true, `is_last` and not
    `is_terminal`. It is reset at the next step with `env_seed(seed, i, restarts)`.
    """

    def __init__(self, backend: Backend, description: Description, num_envs: int, seed: int) -> None:
        self.num_envs = num_envs
        self.atoms = description.atoms
        self.single_observation_space = description.observation_space
        self.single_action_space = description.action_space
        self.observation_space = batch_space(description.observation_space, num_envs)
        self.action_space = batch_space(description.action_space, num_envs)
        self.backend = backend
        self._seed = seed
        self._names = tuple(description.observations())
        self._restarts = [0] * num_envs
        self._crashes = [0] * num_envs
        # Not made yet: the first reset makes and seeds them all.
        self._unmade = dict.fromkeys(range(num_envs))
        self._last: Batch | None = None
        self._closed = False

    def reset(self) -> Batch:
        """Begins an episode in every environment, giving up those under way; only the first call seeds."""
        self._require_open()
        self.backend.arrays["todo"][:] = RESET
        return self._run()

    def step(self, actions: Any) -> Batch:
        """Steps every environment whose episode goes on, and resets every one whose episode is over."""
        self._require_open()
        if self._last is None:
            raise AmbsError("the environments have not begun an episode; call reset() first.")
        self.backend.arrays["action"][:] = self._checked(actions)
        self.backend.arrays["todo"][:] = np.where(self._last.is_last, RESET, STEP)
        return self._run()

    def close(self) -> None:
        """Ends the environments and their processes; a second time does nothing."""
        if not self._closed:
            self._closed = True
            self.backend.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> Batch:
        todo = self.backend.arrays["todo"]
        cut_off = np.zeros(self.num_envs, bool)
        while todo.any():
            wanted = todo != NOTHING
            seeds = {i: env_seed(self._seed, i, self._restarts[i]) for i in self._unmade if wanted[i]}
            try:
                failures = self.backend.run(seeds)
            except BaseException:
                # Some rows are stepped and some are not: there is nothing to go on from, after Ctrl-C either.
                self.close()
                raise
            for index in seeds:
                del self._unmade[index]
            failed = np.zeros(self.num_envs, bool)
            for failure in failures:
                self._note(failure)
                failed[failure.env] = True
            cut_off |= failed & (todo == STEP)
            # Whoever failed to begin an episode tries again now: there is none to close.
            todo[:] = np.where(failed & (todo == RESET), RESET, NOTHING)
        self._last = self._collect(cut_off)
        for finished in np.flatnonzero(self._last.is_last & ~cut_off):
            self._crashes[finished] = 0
        return self._last

    def _note(self, failure: Failure) -> None:
        """Puts an environment down for being made anew, unless that has been tried often enough."""
        index = failure.env
        self._restarts[index] += 1
        self._crashes[index] += 1
        if self._crashes[index] > PATIENCE:
            self.close()
            raise AmbsError(
                f"environment {index} crashed {self._crashes[index]} times without finishing an episode in between, "
                f"the last time because: {failure.reason}.\n{failure.details}".rstrip()
            )
        self._unmade[index] = None
        warnings.warn(
            f"environment {index} crashed ({failure.reason}); it is made anew, and an episode under way is closed as "
            "truncated.",
            CrashWarning,
            stacklevel=4,
        )

    def _collect(self, cut_off: np.ndarray[Any, Any]) -> Batch:
        """A copy of the arrays, which the next step will overwrite; the rows of crashed episodes closed."""
        now = {name: array.copy() for name, array in self.backend.arrays.items()}
        if cut_off.any():
            assert self._last is not None
            before = self._last.obs
            for name in self._names:
                old = before[name.removeprefix(f"{OBS}/")] if isinstance(before, dict) else before
                now[name][cut_off] = old[cut_off]
            for name in ("reward", "cost", "labels", "is_first", "is_terminal"):
                now[name][cut_off] = 0
            now["is_last"][cut_off] = True
        if isinstance(self.single_observation_space, spaces.Dict):
            obs: Any = {name.removeprefix(f"{OBS}/"): now[name] for name in self._names}
        else:
            obs = now[OBS]
        return Batch(
            obs=obs,
            reward=now["reward"],
            cost=now["cost"],
            labels={atom: now["labels"][:, position] for position, atom in enumerate(self.atoms)},
            is_first=now["is_first"],
            is_last=now["is_last"],
            is_terminal=now["is_terminal"],
        )

    def _checked(self, actions: Any) -> np.ndarray[Any, Any]:
        rows = self.backend.arrays["action"]
        given = np.asarray(actions)
        if given.shape != rows.shape or not np.can_cast(given.dtype, rows.dtype, "same_kind"):
            raise AmbsError(
                f"the actions are {given.dtype} of shape {given.shape}, and have to be {rows.dtype} of shape "
                f"{rows.shape}: a row an environment."
            )
        space = self.single_action_space
        if isinstance(space, spaces.Discrete):
            outside = (given < space.start) | (given >= space.start + space.n)
        elif isinstance(space, spaces.MultiDiscrete):
            outside = (given < space.start) | (given >= space.start + space.nvec)
        else:
            outside = np.False_
        if outside.any():
            raise AmbsError(f"an action is outside of {space}: the actions are {given.tolist()}.")
        return given

    def _require_open(self) -> None:
        if self._closed:
            raise AmbsError("the environments are closed; make new ones.")

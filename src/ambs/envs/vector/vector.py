"""The vector of environments: who is reset, who is stepped, and what becomes of an environment that crashed.

Autoreset is explicit: after a row with `is_last`, the next `step` ignores that environment's action, resets it and
delivers the observation of the reset with `is_first`. So every row belongs to exactly one episode, and no transition
leads from one episode into another.

Every reset is seeded, by the number of the episode it begins, so that an episode is determined by that number and its
actions: where a vector has come to can be reached again without saving any environment.
"""

from __future__ import annotations

import warnings
from typing import Any, Protocol, runtime_checkable

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import batch_space
from jaxtyping import Bool, Int, UInt8
from numpy.typing import NDArray

from ambs.envs.vector.actions import checked, checked_episodes, checked_preferences
from ambs.envs.vector.arrays import GUARD, MAKE, NOTHING, OBS, RESET, STEP, Description
from ambs.envs.vector.batch import Batch, Verdicts
from ambs.envs.vector.seeds import env_seed
from ambs.envs.vector.slots import Failure
from ambs.errors import AmbsError

# An environment that crashes more often than this before it has finished an episode will not get better.
PATIENCE = 3


class CrashWarning(UserWarning):
    """An environment crashed, was made anew, and its episode was closed."""


class ReplayError(AmbsError):
    """An episode did not go as it had gone before: its environment is not determined by its seed, or has crashed."""


@runtime_checkable
class Backend(Protocol):
    """Where the environments are: in this process, or in several."""

    arrays: dict[str, NDArray[Any]]

    def run(self) -> list[Failure]:
        """Does what the array "todo" says."""
        ...

    def close(self) -> None: ...


class VectorEnv:
    """N environments that are alike, stepped together; `ambs.envs.vector.make_vec` makes one.

    A crashed environment is made anew, with a warning. If it was in the middle of an episode, that episode is closed by
    a row that nobody's action led to: the last observation again, reward 0, cost 0, no label true, `is_last` and not
    `is_terminal`. It is reset at the next step.

    Episode k of environment i begins with the seed `env_seed(seed, i, k)`. Every reset counts, also one that crashed:
    an environment that crashes on a seed would do so again.
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
        self._episodes = [-1] * num_envs
        self._crashes = [0] * num_envs
        # Not made yet, or to be made anew: the next reset does so.
        self._unmade = np.ones(num_envs, bool)
        # Crashed while their guards were asked: their episodes are closed by the next step.
        self._lost = np.zeros(num_envs, bool)
        self._last: Batch | None = None
        self._closed = False

    @property
    def episodes(self) -> list[int]:
        """The number of the episode that each environment is in, or was in last; -1 before the first."""
        return list(self._episodes)

    def reset(self) -> Batch:
        """Begins the next episode in every environment, giving up those under way."""
        self._require_open()
        self._lost[:] = False
        return self._run(np.full(self.num_envs, RESET, np.uint8))

    def step(self, actions: Any) -> Batch:
        """Steps every environment whose episode goes on, and resets every one whose episode is over."""
        over = self._propose(actions)
        cut_off, self._lost = self._lost, np.zeros(self.num_envs, bool)
        todo = np.where(over, RESET, np.where(cut_off, NOTHING, STEP)).astype(np.uint8)
        return self._run(todo, cut_off)

    def guard(self, actions: Any, preferences: Any = None) -> Verdicts:
        """What the environments' guards would have played instead of these actions; nothing is played yet.

        For environments that `ambs.envs.guards.guarded_maker` makes.

        Args:
            actions: The proposed ones, a row an environment.
            preferences: `[N, actions]`, how good each action would be to whoever proposes, for guards that play the
                next-best; if not given, all are alike.
        """
        over, arrays = self._propose(actions), self.backend.arrays
        told = arrays["preferences"]
        told[:] = 0 if preferences is None else checked_preferences(preferences, told.shape)
        asked = ~(over | self._lost)
        for name, nothing in (("overridden", False), ("estimate", np.nan), ("searched", 0), ("seconds", 0.0)):
            arrays[name][:] = nothing
        failed = self._attempt(np.where(asked, GUARD, NOTHING).astype(np.uint8))
        # Whoever waited may be gone too, with its process; but of an episode that was over nothing is lost.
        self._lost |= failed & ~over
        asked &= ~failed
        return Verdicts(
            actions=arrays["action"].copy(),
            asked=asked,
            overridden=arrays["overridden"] & asked,
            estimate=arrays["estimate"].copy(),
            steps=arrays["searched"].copy(),
            seconds=arrays["seconds"].copy(),
        )

    def replay(self, episodes: Any, actions: Any) -> Batch:
        """Goes back to where a vector of the same seed was, by playing its current episodes again.

        Environment i begins its episode `episodes[i]` and takes the actions `actions[i]`, side by side with the others;
        those with fewer actions wait for the rest. Then `step` goes on from there as it would have gone on then, and
        `episodes` counts on from these numbers. An action at which the environment crashed belongs to the episode too.

        That is so for environments that their seed and their actions determine. Whether yours is one is noticed here if
        an episode ends before its actions do: then a `ReplayError` is raised, the vector stays usable, and `reset`
        begins the episodes after these. Otherwise it shows in the rows, which are the caller's to compare.

        Args:
            episodes: What `episodes` was, of every environment.
            actions: Of every environment those since the first row of that episode, `[n_i, *action shape]`; n_i may be
                0 and may differ.

        Returns:
            The last row of every environment; its first one where n_i is 0.
        """
        self._require_open()
        self._lost[:] = False
        numbers, played = checked_episodes(episodes, actions, self.single_action_space, self.num_envs)
        lengths = np.array([len(one) for one in played])
        self._episodes = [number - 1 for number in numbers]
        batch = self._run(np.full(self.num_envs, RESET, np.uint8))
        self._require_replayed(np.array(self._episodes) != numbers, numbers, 0, lengths)
        for time in range(lengths.max()):
            for index in np.flatnonzero(time < lengths):
                self.backend.arrays["action"][index] = played[index][time]
            batch = self._run(np.where(time < lengths, STEP, NOTHING).astype(np.uint8))
            self._require_replayed(batch.is_last & (time + 1 < lengths), numbers, time + 1, lengths)
        return batch

    def close(self) -> None:
        """Ends the environments and their processes; a second time does nothing."""
        if not self._closed:
            self._closed = True
            self.backend.close()

    def __enter__(self) -> VectorEnv:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _propose(self, actions: Any) -> Bool[np.ndarray, " N"]:
        """Puts the actions where they are looked for, and gives whose episode is over, so that none is played."""
        self._require_open()
        if self._last is None:
            raise AmbsError("the environments have not begun an episode; call reset() first.")
        self.backend.arrays["action"][:] = checked(actions, self.single_action_space, self.num_envs)
        return self._last.is_last

    def _run(self, todo: UInt8[np.ndarray, " N"], lost_before: Bool[np.ndarray, " N"] | None = None) -> Batch:
        """Has everybody do that; whoever cannot begin an episode begins the one after it instead."""
        arrays, asked = self.backend.arrays, todo
        cut_off = np.zeros(self.num_envs, bool) if lost_before is None else lost_before
        while (failed := self._attempt(todo)).any():
            # Whoever waited may be gone too, with its process; but of an episode that was over nothing is lost.
            lost = failed & ~((todo == NOTHING) & arrays["is_last"])
            cut_off |= lost & (asked != RESET)
            todo = np.where(lost & (asked == RESET), RESET, NOTHING).astype(np.uint8)
        if cut_off.any():
            self._close_episodes(cut_off)
        self._last = self._collect()
        for finished in np.flatnonzero(self._last.is_last & ~cut_off & (asked == STEP)):
            self._crashes[finished] = 0
        return self._last

    def _attempt(self, todo: UInt8[np.ndarray, " N"]) -> Bool[np.ndarray, " N"]:
        """Has everybody do that once, and gives who failed."""
        arrays, beginning = self.backend.arrays, todo == RESET
        for index in np.flatnonzero(beginning):
            self._episodes[index] += 1
            arrays["seed"][index] = env_seed(self._seed, int(index), self._episodes[index])
        arrays["todo"][:] = np.where(beginning & self._unmade, MAKE, todo)
        try:
            failures = self.backend.run()
        except BaseException:
            # Some rows are stepped and some are not: there is nothing to go on from, after Ctrl-C either.
            self.close()
            raise
        self._unmade &= ~beginning
        failed = np.zeros(self.num_envs, bool)
        for failure in failures:
            self._note(failure)
            failed[failure.env] = True
        return failed

    def _note(self, failure: Failure) -> None:
        """Puts an environment down for being made anew, unless that has been tried often enough."""
        index = failure.env
        self._crashes[index] += 1
        if self._crashes[index] > PATIENCE:
            self.close()
            raise AmbsError(
                f"environment {index} crashed {self._crashes[index]} times without finishing an episode in between, "
                f"the last time because: {failure.reason}.\n{failure.details}".rstrip()
            )
        self._unmade[index] = True
        warnings.warn(
            f"environment {index} crashed ({failure.reason}); it is made anew, and an episode under way is closed as "
            "truncated.",
            CrashWarning,
            stacklevel=5,
        )

    def _close_episodes(self, cut_off: Bool[np.ndarray, " N"]) -> None:
        """Writes the rows that close the episodes of crashed environments, over what they may have left half done."""
        assert self._last is not None
        arrays, before = self.backend.arrays, self._last.obs
        for name in self._names:
            old = before[name.removeprefix(f"{OBS}/")] if isinstance(before, dict) else before
            arrays[name][cut_off] = old[cut_off]
        for name in ("reward", "cost", "labels", "is_first", "is_terminal"):
            arrays[name][cut_off] = 0
        arrays["is_last"][cut_off] = True

    def _collect(self) -> Batch:
        """A copy of the arrays, which the next step will overwrite."""
        names = (*self._names, "reward", "cost", "labels", "is_first", "is_last", "is_terminal")
        now = {name: self.backend.arrays[name].copy() for name in names}
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

    def _require_replayed(
        self, ended: Bool[np.ndarray, " N"], numbers: list[int], time: int, lengths: Int[np.ndarray, " N"]
    ) -> None:
        """That no episode has ended before all of its actions were played again."""
        for index in np.flatnonzero(ended)[:1]:
            # There is nothing to go on from: step() has to ask for a reset.
            self._last = None
            crashed = time == 0 or self._unmade[index]
            reason = "crashed" if crashed else "is not determined by its seed and its actions"
            raise ReplayError(
                f"episode {numbers[index]} of environment {index} ended after {time} of its {lengths[index]} actions "
                f"when it was played again, because the environment {reason}; begin new episodes with reset()."
            )

    def _require_open(self) -> None:
        if self._closed:
            raise AmbsError("the environments are closed; make new ones.")

"""Some of a vector's environments, stepped one after the other in this process; a worker has some, inline has all."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from ambs.envs.guards import Guarded
from ambs.envs.labels import truth
from ambs.envs.vector.arrays import GUARD, MAKE, NOTHING, STEP, Description, describe
from ambs.errors import AmbsError

Maker = Callable[[], gymnasium.Env[Any, Any]]


@dataclass(frozen=True)
class Failure:
    """An environment that raised, or whose process is gone; its row is not to be believed."""

    env: int
    reason: str
    """In a few words: "RuntimeError: out of range", "killed by signal 9"."""
    details: str = ""
    """The traceback, where there is one."""


class Slots:
    """Environments `start`, `start + 1`, ... and the arrays of the whole vector, of which they fill their rows."""

    def __init__(
        self, makers: Sequence[Maker], start: int, description: Description, arrays: Mapping[str, NDArray[Any]]
    ) -> None:
        self._makers = {start + position: maker for position, maker in enumerate(makers)}
        self._envs: dict[int, gymnasium.Env[Any, Any]] = {}
        self._description = description
        self._arrays = arrays
        self._observed = [(arrays[name], name.partition("/")[2]) for name in description.observations()]

    def run(self) -> list[Failure]:
        """Does what "todo" says, with the actions and seeds that are in the arrays too.

        An `AmbsError` is the user's mistake, which making the environment anew would not mend: it goes through.
        """
        failures = []
        for index in self._makers:
            if self._arrays["todo"][index] != NOTHING:
                try:
                    self._run_one(index)
                except AmbsError:
                    raise
                except Exception as error:
                    reason = traceback.format_exception_only(error)[-1].strip()
                    failures.append(Failure(index, reason, traceback.format_exc()))
        return failures

    def close(self) -> None:
        for index in list(self._envs):
            self._discard(index)

    def _run_one(self, index: int) -> None:
        todo = self._arrays["todo"][index]
        if todo == STEP:
            # A copy: what the environment keeps of it must not change under its hands.
            action = self._arrays["action"][index].copy()
            observation, reward, terminated, truncated, info = self._envs[index].step(action)
            over = bool(terminated or truncated)
            self._write(index, observation, reward, info, first=False, last=over, terminal=bool(terminated))
            return
        if todo == GUARD:
            self._guard(index)
            return
        if todo == MAKE:
            self._discard(index)
            self._envs[index] = self._makers[index]()
        observation, info = self._envs[index].reset(seed=int(self._arrays["seed"][index]))
        if todo == MAKE:
            self._require_alike(index, info)
        self._write(index, observation, 0.0, info, first=True, last=False, terminal=False)

    def _guard(self, index: int) -> None:
        env, arrays = self._envs[index], self._arrays
        if not isinstance(env, Guarded):
            raise AmbsError("these environments have no guard to ask; make them with ambs.envs.guards.guarded_maker.")
        start = time.perf_counter()
        verdict = env.guard(arrays["action"][index].copy(), arrays["preferences"][index].copy())
        arrays["seconds"][index] = time.perf_counter() - start
        arrays["action"][index] = verdict.action
        arrays["overridden"][index] = verdict.overridden
        arrays["estimate"][index] = verdict.estimate
        arrays["searched"][index] = verdict.steps

    def _discard(self, index: int) -> None:
        """Lets go of an environment, which may be in any state: what its `close` says no longer matters."""
        if (env := self._envs.pop(index, None)) is not None:
            try:
                env.close()
            except Exception:
                traceback.print_exc()

    def _require_alike(self, index: int, info: Mapping[str, Any]) -> None:
        mine = describe(self._envs[index], info)
        for what in ("observation_space", "action_space", "atoms"):
            ours, theirs = getattr(mine, what), getattr(self._description, what)
            if ours != theirs:
                name = what.replace("_", " ")
                raise AmbsError(
                    f"the {name} of environment {index} is {ours}, and that of environment 0 is {theirs}; "
                    "a vector needs environments that are alike."
                )

    def _write(
        self,
        index: int,
        observation: Any,
        reward: Any,
        info: Mapping[str, Any],
        *,
        first: bool,
        last: bool,
        terminal: bool,
    ) -> None:
        arrays = self._arrays
        for rows, key in self._observed:
            _put(rows, index, _part(observation, key) if key else observation)
        arrays["reward"][index] = reward
        try:
            cost = float(info["cost"])
            labels = [info["labels"][atom] for atom in self._description.atoms]
        except KeyError as missing:
            raise AmbsError(
                f"the info of environment {index} has no {missing} at this step, and had it before."
            ) from None
        if not (math.isfinite(cost) and cost >= 0):
            raise AmbsError(f"the cost of environment {index} is {cost:g}, and has to be a number of at least 0.")
        arrays["cost"][index] = cost
        arrays["labels"][index] = [
            value if isinstance(value, bool) else truth(atom, value)
            for atom, value in zip(self._description.atoms, labels, strict=True)
        ]
        arrays["is_first"][index] = first
        arrays["is_last"][index] = last
        arrays["is_terminal"][index] = terminal


def _part(observation: Any, key: str) -> Any:
    if not isinstance(observation, Mapping) or key not in observation:
        raise AmbsError(f'an observation has no "{key}", which its space has; make the two agree.')
    return observation[key]


def _put(rows: NDArray[Any], index: int, value: Any) -> None:
    """The value into its row, and never by broadcasting or by cutting off digits."""
    given = np.asarray(value)
    fits = given.dtype == rows.dtype or np.can_cast(given.dtype, rows.dtype, "same_kind")
    if given.shape != rows.shape[1:] or not fits:
        raise AmbsError(
            f"an observation is {given.dtype} of shape {given.shape}, and its space says {rows.dtype} of shape "
            f"{rows.shape[1:]}; make the two agree."
        )
    rows[index] = given

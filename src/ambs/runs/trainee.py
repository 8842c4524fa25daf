"""What a training run trains: the part of a run that is another for every family of agents.

The run itself (`ambs.runs.dreamer.run`) steps environments, fills the replay, counts, reports and saves; what acts and
what learns is asked for here.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from ambs.agents.player import ActionCodec
from ambs.envs.guards import GuardConfig
from ambs.envs.vector import VectorEnv
from ambs.replay import Ring


@runtime_checkable
class Settings(Protocol):
    """What every run is told, whatever it trains."""

    # Properties, for a run's configuration is frozen.

    @property
    def env(self) -> str: ...

    @property
    def env_options(self) -> dict[str, Any]: ...

    @property
    def formula(self) -> str | None: ...

    @property
    def seed(self) -> int: ...

    @property
    def steps(self) -> int: ...

    @property
    def envs(self) -> int: ...

    @property
    def workers(self) -> int | str: ...

    @property
    def capacity(self) -> int: ...

    @property
    def prefill(self) -> int: ...

    @property
    def hold(self) -> int: ...

    @property
    def log_every(self) -> int: ...

    @property
    def checkpoint_every(self) -> int: ...

    @property
    def tensorboard(self) -> bool: ...

    @property
    def guard(self) -> GuardConfig | None: ...

    @property
    def agent(self) -> str: ...

    @property
    def steps_per_update(self) -> float: ...


class Trainee(abc.ABC):
    """An agent while it is trained.

    Attributes:
        codec: between its actions and the environments'.
        learner: all that it has learned, a tree with the number of gradient steps so far under `updates`.
    """

    may_change: ClassVar[frozenset[str]]
    """Options that only this family has, and that a resumed run takes as they are now."""

    first_updates: int = 0
    """Gradient steps between the random steps at the beginning and its own."""
    offline_updates: int = 0
    """Gradient steps before the first step of a run, on what `start` has put into its replay."""

    codec: ActionCodec
    learner: Any

    @classmethod
    @abc.abstractmethod
    def require(cls, config: Any, vec: VectorEnv) -> None:
        """An error if it cannot be trained in these environments; nothing is on disk yet."""

    @classmethod
    def resumed(cls, config: Any, manifest: Mapping[str, Any] | None) -> Any:
        """The configuration to go on with from a checkpoint, if there is one."""
        return config

    @classmethod
    @abc.abstractmethod
    def begin(cls, config: Any, vec: VectorEnv, *, key: PRNGKeyArray) -> Trainee:
        """One that has learned nothing yet."""

    @classmethod
    @abc.abstractmethod
    def summary(cls, config: Any, counters: Any) -> dict[str, Any]:
        """What is worth saying of a run of this family besides what is said of all."""

    @abc.abstractmethod
    def layout(self) -> dict[str, Any]:
        """What the replay stores of each step."""

    @abc.abstractmethod
    def nothing_yet(self) -> Any:
        """What it remembers before it has seen anything, of all environments."""

    @abc.abstractmethod
    def start(self, folder: Path, ring: Ring, steps: int) -> None:
        """The run is where it was, or at its beginning: after `steps` steps, with this replay, which is empty when
        nothing has happened yet."""

    @abc.abstractmethod
    def stored(self, ring: Ring) -> None:
        """One more row of every environment is in the replay."""

    @abc.abstractmethod
    def act(self, position: Any, counters: Any, *, key: PRNGKeyArray) -> Float[np.ndarray, "envs actions"] | None:
        """Sees what the position shows, and puts there its action and what it remembers.

        Gives how it ranks all actions, the higher the better, if the environments have a guard that asks.
        """

    @abc.abstractmethod
    def played(self, position: Any) -> None:
        """After `act`, others have put another action into the position, and that one is played."""

    @abc.abstractmethod
    def pass_over(self, position: Any) -> None:
        """Sees what the position shows, while others act at random."""

    def collected(self, counters: Any) -> None:  # noqa: B027  (most agents have nothing to refuse)
        """The random steps of the beginning are over, and no gradient step on them has been made: an error, if they
        show that there is nothing to learn."""

    @abc.abstractmethod
    def ready(self, ring: Ring) -> bool:
        """Whether there is a batch to learn from."""

    @abc.abstractmethod
    def learn(self, ring: Ring, rng: np.random.Generator, *, key: PRNGKeyArray) -> Mapping[str, Array]:
        """One gradient step; its metrics."""

    @abc.abstractmethod
    def row(self) -> dict[str, float]:
        """What it has to add to a row of metrics."""

    @abc.abstractmethod
    def end_row(self) -> None:
        """That row is written, and the next begins."""

    @abc.abstractmethod
    def save(self) -> None:
        """A checkpoint is about to be saved: what is kept beside it is written now."""

    @abc.abstractmethod
    def as_tree(self) -> dict[str, Any]:
        """Its arrays for a checkpoint, those of `learner` under that name."""

    @abc.abstractmethod
    def as_json(self) -> dict[str, Any]:
        """The rest of it, for the checkpoint's manifest."""

    @abc.abstractmethod
    def go_back(self, tree: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        """To when `as_tree` and `as_json` gave these."""

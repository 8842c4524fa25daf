"""What is kept of overrides, to explain them later.

Of each one what was seen, proposed and played, and the shield's estimate, in `overridden.safetensors`; of at most one
in `EVERY` steps a few imagined futures as well, in `overrides.safetensors`. Of both the latest that fit into `BYTES`;
all are counted in the metrics.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray

from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, imagined_in
from ambs.errors import AmbsError
from ambs.runs.dreamer.latest import Latest, Row, read
from ambs.shield import imagine
from ambs.types import Decision
from ambs.world_model.events import VIOLATION, Events
from ambs.world_model.model import WorldState

NAME, EVERY_NAME = "overrides.safetensors", "overridden.safetensors"
EVERY = 16
FUTURES = 3
BYTES = 16 * 2**20


class Overrides:
    """The latest overrides of a run."""

    def __init__(self, folder: Path, until: int, shield: ShieldConfig | None, look_ahead: int) -> None:
        """Goes on with what is in the folder, of steps up to `until`."""
        self._shield, self._look_ahead = shield, look_ahead
        self._every = Latest(folder / EVERY_NAME, until, BYTES)
        self._explained = Latest(folder / NAME, until, BYTES)

    def add(
        self, step: int, obs: Mapping[str, Any], learner: Learner, state: WorldState, proposed: Array,
        decision: Decision, played: Bool[np.ndarray, " envs"], *, key: PRNGKeyArray,
    ) -> None:  # fmt: skip
        """One step of all environments: those of them that are `played` and overridden. If it is time, one of them,
        each in its turn, with futures."""
        overridden = np.flatnonzero(np.asarray(decision.overridden) & played)
        if not overridden.size:
            return
        columns = {
            **{f"seen.{name}": np.asarray(value) for name, value in obs.items()},
            "proposed": np.asarray(proposed),
            "played": np.asarray(decision.action),
            **{name: np.asarray(getattr(decision, name)) for name in ("estimate", "low", "high", "traces")},
        }
        rows: dict[int, Row] = {}
        for env in map(int, overridden):
            place = {"step": np.asarray(step), "env": np.asarray(env)}
            # A copy: a view would keep the whole column.
            rows[env] = place | {name: np.array(values[env]) for name, values in columns.items()}
            self._every.append(rows[env])
        last = self._explained.step
        if last is not None and step - last < EVERY:
            return
        env = int(overridden[step // EVERY % overridden.size])
        mine = jax.tree.map(lambda each: each[env], (state, proposed))
        assert self._shield is not None
        futures = _futures(learner, self._shield, self._look_ahead, *mine, key=key)
        self._explained.append(rows[env] | {name: np.asarray(value) for name, value in futures.items()})

    def save(self) -> None:
        """To the folder."""
        self._every.save()
        self._explained.save()


def read_overrides(run: Path | str) -> list[Row]:
    """The overrides that are kept with imagined futures of the run in a folder, oldest first.

    Of each: `step`, `env`, `seen.KEY` (the observation, by part), `proposed` and `played` (one-hot or scaled actions),
    `estimate`, `low`, `high`, `traces`; and of three futures, imagined as the shield does, `future.actions`,
    `future.violation` and `future.KEY`, what the model expected to see, a step a row.
    """
    return _read(Path(run), NAME)


def read_overridden(run: Path | str) -> list[Row]:
    """The same of every one of the latest overrides, without futures."""
    return _read(Path(run), EVERY_NAME)


def _read(run: Path, name: str) -> list[Row]:
    if not (run / name).exists():
        raise AmbsError(f"{run} keeps no overrides: it is no run with a shield, or none has been overridden yet.")
    return read(run / name)


@eqx.filter_jit
def _futures(
    learner: Learner, shield: ShieldConfig, look_ahead: int, state: WorldState, proposed: Array, *, key: PRNGKeyArray
) -> dict[str, Array]:
    """A few futures of one state as the shield imagined them: the same policy after the proposed action, as far."""
    model = learner.model
    policy, steps = imagined_in(learner, shield, look_ahead)

    def one(key: PRNGKeyArray) -> dict[str, Array]:
        begin = proposed if shield.first == "proposed" else None
        trace = imagine(Events(model), policy, state, steps, key=key, first_action=begin)
        pictures = model.decode(trace.states)
        expected = {f"future.{part.key}": part.show(pictures[part.key]) for part in model.parts}
        return {
            "future.actions": trace.actions,
            "future.violation": trace.predictions.labels[VIOLATION],
            **expected,
        }

    return jax.vmap(one)(jax.random.split(key, FUTURES))

"""What is kept of overrides, to explain them later: what was seen, proposed and played, and a few imagined futures.

At most one in `EVERY` steps is kept, and of those the latest that fit into `BYTES`; all are counted in the metrics. The
file `overrides.safetensors` of a run folder has an array a field, a row an override, oldest first.
"""

from __future__ import annotations

import contextlib
import warnings
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, PRNGKeyArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from ambs.agents.learner import Learner
from ambs.agents.shielding import ShieldConfig, imagined_in
from ambs.errors import AmbsError
from ambs.files import replacing
from ambs.shield import imagine
from ambs.types import Decision
from ambs.world_model.events import VIOLATION, Events
from ambs.world_model.model import WorldState

NAME = "overrides.safetensors"
EVERY = 16
FUTURES = 3
BYTES = 16 * 2**20

Row = dict[str, np.ndarray]


class Overrides:
    """The latest overrides of a run."""

    def __init__(self, folder: Path, until: int, shield: ShieldConfig | None, look_ahead: int) -> None:
        """Goes on with what is in the folder, of steps up to `until`."""
        self._path = folder / NAME
        self._shield, self._look_ahead = shield, look_ahead
        self._rows: deque[Row] = deque()
        self._bytes = 0
        self._last = -EVERY
        self._warned = False
        # What cannot be read is not worth a run: it begins anew.
        with contextlib.suppress(AmbsError):
            for row in read_overrides(folder):
                if row["step"] <= until:
                    self._append(row)

    def add(
        self, step: int, obs: Mapping[str, Any], learner: Learner, state: WorldState, proposed: Array,
        decision: Decision, played: Bool[np.ndarray, " envs"], *, key: PRNGKeyArray,
    ) -> None:  # fmt: skip
        """One step of all environments; kept is one of those `played` that was overridden, each in its turn, if it is
        time."""
        overridden = np.flatnonzero(np.asarray(decision.overridden) & played)
        if not overridden.size or step - self._last < EVERY:
            return
        env = int(overridden[step // EVERY % overridden.size])
        mine = jax.tree.map(lambda each: each[env], (state, proposed))
        assert self._shield is not None
        futures = _futures(learner, self._shield, self._look_ahead, *mine, key=key)
        row = {
            "step": step,
            "env": env,
            **{f"seen.{name}": np.asarray(value)[env] for name, value in obs.items()},
            "proposed": np.asarray(proposed)[env],
            "played": np.asarray(decision.action)[env],
            **{name: np.asarray(getattr(decision, name))[env] for name in ("estimate", "low", "high", "traces")},
            **futures,
        }
        self._append({name: np.asarray(value) for name, value in row.items()})

    def save(self) -> None:
        """To the folder, all at once. A disk that has no room for it does not end the run, and that is said once."""
        if not self._rows:
            return
        columns = {name: np.stack([row[name] for row in self._rows]) for name in self._rows[0]}
        try:
            with replacing(self._path) as partial:
                save_file(columns, partial)
        # safetensors has an error of its own for what the system refuses.
        except (OSError, SafetensorError) as error:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"the run goes on, but its latest overrides are not kept, for {self._path} could not be written "
                    f"({error}); the next checkpoint tries again.",
                    stacklevel=2,
                )

    def _append(self, row: Row) -> None:
        # Older versions kept futures of another length, which one file cannot hold beside these.
        if self._rows and any(row[name].shape != each.shape for name, each in self._rows[-1].items()):
            self._rows.clear()
            self._bytes = 0
        self._rows.append(row)
        self._last = int(row["step"])
        self._bytes += sum(each.nbytes for each in row.values())
        while self._bytes > BYTES and len(self._rows) > 1:
            self._bytes -= sum(each.nbytes for each in self._rows.popleft().values())


def read_overrides(run: Path | str) -> list[Row]:
    """The overrides that are kept of the run in a folder, oldest first.

    Of each: `step`, `env`, `seen.KEY` (the observation, by part), `proposed` and `played` (one-hot or scaled actions),
    `estimate`, `low`, `high`, `traces`; and of three futures, imagined as the shield does, `future.actions`,
    `future.violation` and `future.KEY`, what the model expected to see, a step a row.
    """
    path = Path(run) / NAME
    if not path.exists():
        raise AmbsError(f"{run} keeps no overrides: it is no run with a shield, or none has been overridden yet.")
    try:
        columns = load_file(path)
    except SafetensorError as error:
        raise AmbsError(f"{path} is damaged: {error}; the next checkpoint of the run writes it anew.") from error
    return [{name: values[row] for name, values in columns.items()} for row in range(len(columns["step"]))]


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

"""What ends a run: numbers that are none, and a formula that nothing satisfies; with what there is to go on from."""

from __future__ import annotations

import numpy as np

from ambs.envs.vector import Batch
from ambs.errors import AmbsError
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.counters import Counters
from ambs.runs.dreamer.tally import Tally
from ambs.world_model.parts import as_parts


def require_finite(tally: Tally | None, config: RunConfig, steps: int, checkpoint: int | None) -> None:
    """That every metric since the last row has been a number; `checkpoint` is the step of the last one."""
    found = None if tally is None else tally.first_broken()
    if found is not None:
        online = max(0, found.update - config.offline_updates)
        step = min(int(config.prefill + online * config.steps_per_update), steps)
        raise broken(f"{found.name} has not been", step, checkpoint)


def broken(what: str, step: int, checkpoint: int | None) -> AmbsError:
    return AmbsError(
        f"{what} a finite number since about step {step:,}, so the run has stopped, and "
        + _last_good(
            checkpoint, "run the same command with a lower --learning-rate, and it goes on from there",
            otherwise="start again with a lower --learning-rate",
        )
    )  # fmt: skip


def require_sound(batch: Batch, steps: int, checkpoint: int | None) -> None:
    """What is no number would be in the replay for good."""
    seen = [part for part in as_parts(batch.obs).values() if np.issubdtype(part.dtype, np.floating)]
    for what, values in (("a reward", [batch.reward]), ("an observation", seen)):
        if not all(np.isfinite(array).all() for array in values):
            raise AmbsError(
                f"{what} of the environment is no finite number at step {steps:,}, so the run has stopped, and "
                + _last_good(
                    checkpoint, "mend the environment, and the same command goes on from there",
                    otherwise="mend the environment and start again",
                )
            )  # fmt: skip


def require_some_safety(config: RunConfig, counters: Counters) -> None:
    """A formula that has not held once, whatever was done, leaves a shield nothing to keep."""
    if config.shield is not None and counters.violations == counters.steps:
        raise AmbsError(
            f"the formula was broken in each of the first {counters.steps:,} steps, so it seems that no state "
            "satisfies it, and a shield cannot keep it; give another --formula, e.g. its negation."
        )


def _last_good(checkpoint: int | None, then: str, *, otherwise: str) -> str:
    """The end of a sentence: what there is to go on from, and what to do; `otherwise`, if there is nothing."""
    if checkpoint is None:
        return f"there is no checkpoint yet; {otherwise}."
    return f"its last good checkpoint is of step {checkpoint:,}; {then}."

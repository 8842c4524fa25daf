"""From the folder of a run to its agent, whatever agent it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ambs.errors import AmbsError
from ambs.runs.dreamer import saved as dreamer
from ambs.runs.evaluate.agent import SavedAgent
from ambs.runs.evaluate.value_agent import ValueAgent
from ambs.runs.value import saved as value
from ambs.value_agents.config import AGENTS

LoadedAgent = SavedAgent | ValueAgent


def load(run: Any, *, seed: Any = 0, shield: Any = True) -> LoadedAgent:
    """The agent of the run in the folder `run`, as of its last good checkpoint; also while it is being trained.

    Args:
        run: The folder, as `ambs train --run` was given it.
        seed: Of the actions that are drawn; deterministic ones need none.
        shield: Whether an agent that was trained with a shield keeps it; without, its task policy acts alone. Or
            another one, by a name of `ambs.runs.evaluate.SHIELDS`, or as a `GuardConfig`.
    """
    if not isinstance(run, str | Path):
        raise AmbsError(f"the run is {run!r}, and has to be the folder of one.")
    path = Path(run)
    if dreamer.agent_of(path) in AGENTS:
        return ValueAgent(value.read(path), seed=seed, shield=shield)
    return SavedAgent(dreamer.read(path), seed=seed, shield=shield)

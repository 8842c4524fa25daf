"""Runs of seconds: the smallest networks, all of one shape, so that they are compiled once."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from safetensors.numpy import load_file, save_file

from ambs.envs import Conveyor
from ambs.envs.catalogue import CATALOGUE
from ambs.runs.dreamer import RunConfig, cpu_learner

SMALL = RunConfig(
    steps=600, envs=2, workers="inline", batch=2, length=8, train_ratio=2.0, capacity=2000, prefill=64, log_every=64,
    checkpoint_every=100, tensorboard=False, learner=cpu_learner("debug"),
)  # fmt: skip

# The same for the command line, without steps and folder.
FLAGS = [
    "--agent", "dreamer", "--size", "debug", "--envs", "2", "--workers", "inline", "--batch", "2", "--length", "8",
    "--train-ratio", "2", "--capacity", "2000", "--prefill", "64", "--log-every", "64", "--checkpoint-every", "100",
    "--no-tensorboard",
]  # fmt: skip

# What no two runs have in common, of a summary.
# And what made it, which is another when somebody works on the source meanwhile.
NO_TIME = {"wall_seconds": 0, "cpu_seconds": 0, "made_by": None}


def small(**changes: Any) -> RunConfig:
    return dataclasses.replace(SMALL, **changes)


def rows(path: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a log, without what no two runs have in common."""
    read = [json.loads(line) for line in (path / f"{name}.jsonl").read_text().splitlines()]
    return [{key: value for key, value in row.items() if key != "steps_per_second"} for row in read]


def weights(path: Path) -> dict[str, np.ndarray]:
    """All arrays of the newest checkpoint."""
    manifest = json.loads(max((path / "checkpoints").glob("*.json")).read_text())
    return load_file(path / "checkpoints" / manifest["file"])


def poison(path: Path, part: str) -> None:
    """Makes numbers of the last checkpoint NaN, as if they had become so in memory."""
    manifest = max((path / "checkpoints").glob("*.json"))
    said = json.loads(manifest.read_text())
    arrays = load_file(path / "checkpoints" / said["file"])
    for name in [name for name in arrays if part in name and arrays[name].dtype == np.float32]:
        arrays[name] = np.full_like(arrays[name], np.nan)
    save_file(arrays, path / "checkpoints" / said["file"])
    data = (path / "checkpoints" / said["file"]).read_bytes()
    manifest.write_text(json.dumps(said | {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}))


class Poisoned(Conveyor):
    """A conveyor that pays NaN at step 60 of its episodes."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, float("nan") if self._time == 60 else reward, *rest


class Fickle(Conveyor):
    """A conveyor that pays no heed to its seed: in every episode another bit is turned."""

    resets = 0

    def reset(self, *, seed=None, options=None):
        Fickle.resets += 1
        self._bit = Fickle.resets
        observation, info = super().reset(options=options)
        return self._turned(observation), info

    def step(self, action):
        observation, *rest = super().step(action)
        return self._turned(observation), *rest

    def _turned(self, observation):
        observation = observation.copy()
        observation.flat[self._bit % observation.size] ^= 1
        return observation


class Torn(Conveyor):
    """A conveyor that breaks down at step 41 of its episodes."""

    torn_at = 41

    def step(self, action):
        if self._time + 1 == self.torn_at:
            raise RuntimeError("the belt is torn")
        return super().step(action)


class Brief(Conveyor):
    """A conveyor whose episodes are one step long: every other row of the replay is a reset."""

    def step(self, action):
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, True, info


class Uneven(Conveyor):
    """A conveyor whose episodes are 5 to 8 steps long, so that environments side by side get out of phase."""

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed, options=options)
        self._until = int(self.np_random.integers(5, 9))
        return found

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated or self._time >= self._until, info


def enter(patch: Any, name: str, world: type[Conveyor]) -> None:
    """Puts an environment of a test into the catalogue for as long as the patch lasts."""
    spec = dataclasses.replace(
        CATALOGUE["conveyor"], name=name, id=f"{name.title()}-v0", entry_point=f"{__name__}:{world.__name__}"
    )
    patch.setitem(CATALOGUE, name, spec)
    patch.setitem(
        gymnasium.registry, spec.id,
        gymnasium.envs.registration.EnvSpec(
            spec.id, entry_point=spec.entry_point, max_episode_steps=100, kwargs=dict(spec.kwargs)
        ),
    )  # fmt: skip

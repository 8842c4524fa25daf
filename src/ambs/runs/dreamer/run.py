"""The training run: collect, remember, learn, report, save. Killed at any moment, it goes on from its checkpoint."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ambs.agents.learner import Learner, learn
from ambs.agents.player import ActionCodec, Memory, act, nothing_yet
from ambs.envs.vector import Batch, VectorEnv, make_vec
from ambs.errors import AmbsError
from ambs.files import write_text
from ambs.replay import Ring
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.counters import Counters, Scorer
from ambs.runs.storage import MetricsLog, RunFolder, load, save
from ambs.world_model.model import Sequences
from ambs.world_model.parts import Part, as_parts, parts_of

# Says how far the run has come: its counters, and whether it is done.
Progress = Callable[[Counters], None]


class Run:
    """Everything a training run holds while it runs."""

    def __init__(self, config: RunConfig, folder: RunFolder) -> None:
        self.config, self.folder = config, folder
        formula = {} if config.formula is None else {"formula": config.formula}
        self.vec: VectorEnv = make_vec(config.env, config.envs, seed=config.seed, workers=config.workers, **formula)
        self.codec = ActionCodec(self.vec.single_action_space)
        self.parts: tuple[Part, ...] = parts_of(self.vec.single_observation_space)
        self.key = jax.random.key(config.seed)
        self.rng = np.random.default_rng(config.seed)
        self.counters = Counters()
        self.learner = Learner.create(
            self.parts, self.codec.size, config.learner, discrete=self.codec.discrete, key=self._next_key()
        )
        self._learn = eqx.filter_jit(
            lambda learner, batch, key: learn(learner, batch, config.learner, key=key), donate="all"
        )
        checkpoint = load(folder.checkpoints, {"learner": self.learner, "key": self.key})
        if checkpoint is not None:
            self.learner, self.key = checkpoint.tree["learner"], checkpoint.tree["key"]
            self.counters = Counters(**checkpoint.extra["counters"])
            self.rng.bit_generator.state = checkpoint.extra["rng"]
        self.ring = Ring.open(
            folder.replay, self._layout(), config.capacity, config.envs, margin=2 * config.checkpoint_every,
            written=None if checkpoint is None else checkpoint.extra["replay"],
        )  # fmt: skip
        self.log = MetricsLog(folder.path, self.counters.steps, tensorboard=True)
        self._waiting: dict[str, Any] = {}

    def train(self, progress: Progress) -> dict[str, Any]:
        """Runs to the end, and gives the summary."""
        config, counters = self.config, self.counters
        started, before = time.monotonic(), counters.steps
        scorer = Scorer(config.envs)
        memory = nothing_yet(self.learner.model, config.envs, self.codec.size)
        batch, action = self.vec.reset(), np.zeros((config.envs, self.codec.size), np.float32)
        logged, saved = counters.steps, counters.steps
        while counters.steps < config.steps:
            self._remember(batch, action)
            action, memory = self._act(batch, memory)
            batch = self.vec.step(self.codec.decode(action))
            for episode in scorer.add(batch, counters):
                self.log.score(counters.steps, **dataclasses.asdict(episode))
            self._learn_what_is_due()
            if counters.steps - logged >= config.log_every:
                self._report((counters.steps - before) / (time.monotonic() - started))
                logged = counters.steps
            progress(counters)
            if counters.steps - saved >= config.checkpoint_every:
                self.save()
                saved = counters.steps
        self.save()
        return self.summary(time.monotonic() - started)

    def save(self) -> None:
        self.ring.flush()
        extra = {
            "counters": self.counters.as_json(),
            "replay": self.ring.written,
            "rng": self.rng.bit_generator.state,
        }
        save(self.folder.checkpoints, self.counters.steps, {"learner": self.learner, "key": self.key}, extra)

    def summary(self, wall: float) -> dict[str, Any]:
        counters, config = self.counters, self.config
        recent = counters.recent
        summary = {
            "env": config.env,
            "agent": "dreamer",
            "seed": config.seed,
            "steps": counters.steps,
            "episodes": counters.episodes,
            "violations": counters.violations,
            "best_return": counters.best_return,
            "final_return": float(np.mean(recent)) if recent else None,
            "wall_seconds": round(wall, 1),
        }
        write_text(self.folder.path / "summary.json", json.dumps(summary, indent=2) + "\n")
        return summary

    def close(self) -> None:
        self.vec.close()
        self.log.close()

    def _next_key(self) -> jax.Array:
        self.key, key = jax.random.split(self.key)
        return key

    def _layout(self) -> dict[str, Any]:
        space = self.vec.single_observation_space
        spaces = {"": space} if not hasattr(space, "spaces") else dict(space.spaces)
        seen = {f"obs/{part.key}": (spaces[part.key].shape, spaces[part.key].dtype) for part in self.parts}
        numbers = {"reward": ((), np.float32), "cost": ((), np.float32)}
        flags = {"is_first": ((), np.bool_), "is_terminal": ((), np.bool_)}
        return {**seen, "action": ((self.codec.size,), np.float32), **numbers, **flags}

    def _remember(self, batch: Batch, action: np.ndarray) -> None:
        """The rows of one step, each with the action that led to it."""
        seen = {f"obs/{key}": value for key, value in as_parts(batch.obs).items()}
        self.ring.add({
            **seen, "action": action, "reward": batch.reward, "cost": batch.cost, "is_first": batch.is_first,
            "is_terminal": batch.is_terminal,
        })  # fmt: skip

    def _act(self, batch: Batch, memory: Memory) -> tuple[np.ndarray, Memory]:
        if self.counters.steps < self.config.prefill:
            return self.codec.random(self.rng, self.config.envs), memory
        seen = {key: jnp.asarray(value) for key, value in as_parts(batch.obs).items()}
        action, memory = act(
            self.learner.model, self.learner.task.actor, memory, seen, jnp.asarray(batch.is_first),
            key=self._next_key(),
        )  # fmt: skip
        return np.asarray(action), memory

    def _learn_what_is_due(self) -> None:
        """Gradient steps until as many steps have been replayed as the train ratio asks for."""
        config, counters = self.config, self.counters
        due = int((counters.steps - config.prefill) / config.steps_per_update)
        while counters.updates < due and self.ring.ready(config.length):
            rows = self.ring.sample(self.rng, config.batch, config.length)
            batch = Sequences(
                {part.key: jnp.asarray(rows[f"obs/{part.key}"]) for part in self.parts},
                *(jnp.asarray(rows[key]) for key in ("action", "reward", "cost", "is_first", "is_terminal")),
            )
            self.learner, self._waiting = self._learn(self.learner, batch, self._next_key())
            counters.updates += 1

    def _report(self, speed: float) -> None:
        """A row of metrics; the only place where the host waits for the device."""
        values = {name: float(value) for name, value in self._waiting.items()}
        broken = [name for name, value in values.items() if not np.isfinite(value)]
        if broken:
            raise AmbsError(
                f"{broken[0]} is no finite number any more at step {self.counters.steps}; the run stops, and its last "
                "checkpoint is from before. Lower the learning rate, or resume with another seed."
            )
        counters = self.counters
        own = {"episodes": counters.episodes, "violations": counters.violations, "updates": counters.updates}
        score = {"return": float(np.mean(counters.recent[-20:]))} if counters.recent else {}
        self.log.metrics(counters.steps, {**values, **own, **score, "steps_per_second": speed})


def start(config: RunConfig, path: Path, progress: Progress = lambda counters: None) -> dict[str, Any]:
    """Trains in the folder `path`, from its last checkpoint if there is one."""
    folder = RunFolder.open(path, dataclasses.asdict(config))
    try:
        run = Run(config, folder)
        try:
            return run.train(progress)
        finally:
            run.close()
    finally:
        folder.close()

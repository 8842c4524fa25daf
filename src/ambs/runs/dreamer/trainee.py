"""The agents with a world model, dreamer and ambs, as a run trains them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from ambs.agents.backup import Backup
from ambs.agents.forecast import forecast
from ambs.agents.learner import Learner, learn
from ambs.agents.placement import Placement
from ambs.agents.player import ActionCodec, Memory, act, nothing_yet, preferences
from ambs.agents.shielding import act_shielded
from ambs.envs.vector import VectorEnv
from ambs.errors import AmbsError
from ambs.replay import Ring
from ambs.runs.dreamer.calibration import Calibration
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.counters import Counters
from ambs.runs.dreamer.decisions import Decisions
from ambs.runs.dreamer.offline import fill, source_of
from ambs.runs.dreamer.overrides import Overrides
from ambs.runs.dreamer.position import Position
from ambs.runs.dreamer.precision import keep_precision
from ambs.runs.dreamer.random_play import random_actions
from ambs.runs.dreamer.rows import as_sequences, layout
from ambs.runs.dreamer.saved import make_env, require_satisfiable
from ambs.runs.trainee import Trainee
from ambs.world_model.board import is_board
from ambs.world_model.parts import as_parts, parts_of

# As compiled programs; what begins a run too, for it is hundreds of operations that would be compiled one by one.
_create = eqx.filter_jit(Learner.create)
_nothing_yet = eqx.filter_jit(nothing_yet)
_learn = eqx.filter_jit(learn, donate="all")


class DreamerTrainee(Trainee):
    """A world model, a policy learned in its imagination and, for ambs, what a shield needs."""

    # A run whose losses broke can go on with smaller steps; the optimisers' states do not depend on them.
    may_change: ClassVar[frozenset[str]] = frozenset(
        f"learner.{name}.learning_rate"
        for name in ("world_model", "actor", "critic", "safety.critics", "lagrangian.critics")
    )

    def __init__(self, config: RunConfig, vec: VectorEnv, *, key: PRNGKeyArray) -> None:
        self.config, self.space, self.actions = config, vec.single_observation_space, vec.single_action_space
        self.codec = ActionCodec(vec.single_action_space)
        self.parts = parts_of(self.space)
        self.first_updates = config.pretrain
        self.offline_updates = 0 if config.start is None else config.start.updates
        self.decisions = Decisions()
        self.calibration = _calibration(config)
        self.placement = Placement(config.batch, config.devices)
        self.learner = self.placement.copy(
            _create(self.parts, self.codec.size, config.learner, discrete=self.codec.discrete, key=key)
        )
        name = None if config.shield is None else config.shield.backup
        self.backup = None if name is None else Backup(name, vec.single_action_space)
        self.overrides: Overrides | None = None

    @classmethod
    def resumed(cls, config: RunConfig, manifest: Mapping[str, Any] | None) -> RunConfig:
        return keep_precision(config, manifest)

    @classmethod
    def require(cls, config: RunConfig, vec: VectorEnv) -> None:
        if config.learner.grids == "cells" and not is_board(parts_of(vec.single_observation_space)):
            raise AmbsError(
                f"grids are to be cells, and the observation is {vec.single_observation_space}: no single grid of "
                "zeros and ones; take another preset, or --grids codes."
            )
        if config.learner.images is not None and all(
            part.kind != "image" for part in parts_of(vec.single_observation_space)
        ):
            raise AmbsError(
                f"images are to be read as {config.learner.images}, and the observation is "
                f"{vec.single_observation_space}: no image; leave out --images."
            )
        codec = ActionCodec(vec.single_action_space)
        if config.shield is not None and config.shield.safe_actions == "searched" and not codec.discrete:
            raise AmbsError(
                f"safe actions are to be searched, and the actions are {vec.single_action_space}: only finitely many "
                "can be tried one after another; take likeliest or sampled."
            )
        Placement(config.batch, config.devices)
        if config.shield is not None and config.shield.backup is not None:
            env = make_env(config)
            Backup(config.shield.backup, vec.single_action_space).require(env.reset(seed=config.seed)[0])
            env.close()
        if config.shield is not None and config.formula is not None:
            require_satisfiable(config.formula)

    @classmethod
    def begin(cls, config: RunConfig, vec: VectorEnv, *, key: PRNGKeyArray) -> DreamerTrainee:
        return cls(config, vec, key=key)

    @classmethod
    def summary(cls, config: RunConfig, counters: Counters) -> dict[str, Any]:
        if config.shield is None:
            return {"size": config.learner.size}
        return {
            "size": config.learner.size,
            "criterion": config.shield.criterion,
            "override_rate": counters.override_rate,
        }

    def layout(self) -> dict[str, Any]:
        return layout(self.space, self.parts, self.codec.size)

    def nothing_yet(self) -> Memory:
        return _nothing_yet(self.learner.model, self.config.envs, self.codec.size)

    def start(self, folder: Path, ring: Ring, steps: int) -> None:
        safety = self.config.learner.safety
        self.overrides = Overrides(folder, steps, self.config.shield, 0 if safety is None else safety.look_ahead)
        if self.config.start is not None and ring.written == 0:
            fill(ring, source_of(self.config, self.space, self.actions))

    def stored(self, ring: Ring) -> None:
        """Sequences are drawn uniformly: there is nothing to keep of single rows."""

    def act(
        self, position: Position, counters: Counters, *, key: PRNGKeyArray
    ) -> Float[np.ndarray, "envs actions"] | None:
        """With its shield, if that has begun; until then a shield may wait for the model to foretell violations."""
        config, calibration = self.config, self.calibration
        if calibration is not None:
            calibration.see(position.batch)
        waits = calibration is not None and not calibration.begun
        seen = {key: jnp.asarray(value) for key, value in as_parts(position.batch.obs).items()}
        first = jnp.asarray(position.batch.is_first)
        # Acting splits the key into three at most, which are `fold_in` of 0 to 2.
        besides = jax.random.fold_in(key, 3)
        if config.shield is None or waits or counters.steps < config.prefill + config.shield.after:
            _, position.memory = act(self.learner.model, self.learner.task.actor, position.memory, seen, first, key=key)
            if calibration is not None and waits:
                told = forecast(self.learner, position.memory, calibration.look_ahead, key=besides)
                calibration.foretell(*told)
        else:
            assert config.learner.safety is not None
            assert self.overrides is not None
            proposed, position.memory, decision = act_shielded(
                self.learner, config.shield, config.learner.safety.look_ahead, position.memory, seen, first, key=key,
                explored=self._explored(position, counters, jax.random.fold_in(key, 4)),
            )  # fmt: skip
            if self.backup is not None:
                position.memory, decision = self.backup(position.memory, decision, position.batch.obs)
            # Where an episode is over, the next step begins another, whatever the action.
            played = ~position.batch.is_last
            self.decisions.add(decision, played)
            self.overrides.add(
                counters.steps, as_parts(position.batch.obs), self.learner, position.memory.state, proposed,
                decision, played, key=besides,
            )  # fmt: skip
            counters.shielded += int(played.sum())
            counters.overrides += int(np.asarray(decision.overridden)[played].sum())
        position.action = np.asarray(position.memory.action)
        if config.guard is None or not config.guard.ranks:
            return None
        return np.asarray(preferences(self.learner.task.actor, position.memory))

    def _explored(
        self, position: Position, counters: Counters, key: PRNGKeyArray
    ) -> tuple[Bool[Array, " envs"], Float[Array, "envs actions"]] | None:
        """Random proposals, and in which environments; in none once it is over, so that one program serves both.

        In every other one for so many steps; and in all of them, however long, until a reward was met: a task policy
        that knows of none is the uniform one.
        """
        config = self.config
        assert config.shield is not None
        if config.shield.explore == 0:
            return None
        # Of the step's own key: there is nothing to remember of it in a checkpoint.
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        begun = counters.steps < config.prefill + config.shield.after + config.shield.explore
        every_other = np.arange(config.envs) % 2 == 1
        unpaid = not counters.rewarded and config.start is None
        actions = random_actions(self.codec, position, config.hold, rng)
        return jnp.asarray(every_other & begun | unpaid), jnp.asarray(actions)

    def played(self, position: Position) -> None:
        position.memory = Memory(position.memory.state, jnp.asarray(position.action))

    def pass_over(self, position: Position) -> None:
        """The model begins with what is seen when it first acts."""

    def collected(self, counters: Counters) -> None:
        """A formula that has not held once leaves a shield nothing to keep."""
        if self.config.shield is not None and counters.violations == counters.steps:
            raise AmbsError(
                f"the formula was broken in each of the first {counters.steps:,} steps, so it seems that no state "
                "satisfies it, and a shield cannot keep it; give another --formula, e.g. its negation, and another "
                "--run."
            )

    def ready(self, ring: Ring) -> bool:
        return ring.ready(self.config.length)

    def learn(self, ring: Ring, rng: np.random.Generator, *, key: PRNGKeyArray) -> Mapping[str, Array]:
        rows = ring.sample(rng, self.config.batch, self.config.length)
        batch = self.placement.split(as_sequences(rows, self.parts, self.config.learner.violation_cost))
        self.learner, metrics = _learn(self.learner, batch, self.config.learner, key=key)
        return metrics

    def row(self) -> dict[str, float]:
        return self.decisions.means() | ({} if self.calibration is None else self.calibration.row())

    def end_row(self) -> None:
        self.decisions = Decisions()

    def save(self) -> None:
        if self.overrides is not None:
            self.overrides.save()

    def as_tree(self) -> dict[str, Any]:
        return {"learner": self.learner}

    def as_json(self) -> dict[str, Any]:
        saved = {"decisions": self.decisions.as_json(), "precision": self.config.learner.dtype}
        return saved if self.calibration is None else {**saved, "calibration": self.calibration.as_json()}

    def go_back(self, tree: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        self.learner = self.placement.copy(tree["learner"])
        self.decisions = Decisions(**extra["decisions"])
        if self.calibration is not None:
            self.calibration = Calibration.from_json(extra["calibration"])


def _calibration(config: RunConfig) -> Calibration | None:
    if config.shield is None or config.shield.when is None:
        return None
    assert config.learner.safety is not None
    return Calibration(config.shield.when, config.learner.safety.look_ahead)

"""What a run will take: operations, memory and disk, counted from its configuration before anything is trained.

    operations = updates · F(update) + (steps - prefill) · (F(act) + traces · F(trace) + F(search) / 2)

F counts the products of the very programs that the run compiles (`ambs.bench.flops`). A trace is one imagined future of
the shield, and `traces` what its test draws in a state from which no violation is imagined. A search is what a shield
with searched safe actions imagines where it takes over; without one there is none.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from ambs.agents.learner import Learner, learn
from ambs.agents.player import ActionCodec, act, nothing_yet
from ambs.agents.shielding import shield_of
from ambs.bench.flops import matmul_flops
from ambs.replay.layout import as_layout
from ambs.replay.ring import SEGMENT
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.margin import margin_for
from ambs.runs.dreamer.rows import as_sequences, layout
from ambs.runs.dreamer.saved import make_env
from ambs.runs.storage.checkpoint import KEPT
from ambs.runs.trainee import Settings
from ambs.runs.value.config import ValueRunConfig
from ambs.runs.value.trainee import part_of
from ambs.value_agents import acting
from ambs.value_agents.learner import Transitions, ValueLearner
from ambs.value_agents.learner import learn as learn_values
from ambs.world_model.parts import parts_of
from ambs.world_model.rssm import without_gradient

# How often a shield takes over is not known before. Those of MinAtar's Asterix that search did in 0.22 to 0.81 of their
# steps (results/minatar).
TAKEN_OVER = 0.5


@dataclass(frozen=True)
class Costs:
    """Of one update, one environment step of acting, one trace of the shield, and of what is learned."""

    update: float
    act: float
    trace: float
    traces: float
    search: float
    """Of all traces by which a safe action is searched, where the shield takes over; 0 if it is not searched."""
    parameters: int
    """Numbers that are learned, without slow copies and optimisers."""
    learner_bytes: int
    """Everything that changes by learning: weights, slow copies, the optimisers' moments."""
    row_bytes: int
    """A step in the replay."""


@dataclass(frozen=True)
class Estimate:
    """Of a whole run."""

    updates: int
    flops: float
    learning: float
    """Of those operations, the share that is learning; the rest is acting, and the shield's."""
    parameters: int
    learner_bytes: int
    replay_bytes: int
    """In files, on the host; in its memory only as far as there is room."""
    disk_bytes: int

    @property
    def accelerator_bytes(self) -> int:
        """What has to be where it is computed: all that is learned, and one gradient; activations are not counted."""
        return self.learner_bytes + 4 * self.parameters

    def as_json(self) -> dict[str, float]:
        return {**asdict(self), "accelerator_bytes": self.accelerator_bytes}


def estimate(settings: Settings) -> Estimate:
    costs = costs_of(settings)
    acted = max(0, settings.steps - settings.prefill)
    updates = int(acted / settings.steps_per_update)
    if isinstance(settings, RunConfig):
        updates += settings.pretrain + (0 if settings.start is None else settings.start.updates)
    shielding = costs.traces * costs.trace + TAKEN_OVER * costs.search
    learning, acting = updates * costs.update, acted * (costs.act + shielding)
    most = settings.capacity + margin_for(settings.checkpoint_every, settings.envs)
    # Files grow by whole segments.
    rows = min(most, -(-settings.steps // SEGMENT) * SEGMENT)
    replay = rows * costs.row_bytes
    return Estimate(
        updates, learning + acting, learning / max(learning + acting, 1.0), costs.parameters, costs.learner_bytes,
        replay, replay + KEPT * costs.learner_bytes,
    )  # fmt: skip


def costs_of(settings: Settings) -> Costs:
    """By what decides them alone, so that games that are alike are counted once."""
    env = make_env(settings)
    observed, acted = env.observation_space, env.action_space
    env.close()
    anywhere = replace(settings, env="", env_options={}, formula=None, seed=0, steps=1)  # type: ignore[type-var]
    described = json.dumps([repr(observed), repr(acted)])
    return _costs(_Key(described, anywhere, observed, acted))


class _Key:
    """Equal where the costs are."""

    def __init__(self, described: str, settings: Any, observed: spaces.Space[Any], acted: spaces.Space[Any]) -> None:
        self.settings, self.observed, self.acted = settings, observed, acted
        self._text = f"{described} {settings!r}"

    def __hash__(self) -> int:
        return hash(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self._text == other._text


@functools.cache
def _costs(key: _Key) -> Costs:
    if isinstance(key.settings, ValueRunConfig):
        return _of_values(key.settings, key.observed, key.acted)
    return _of_world_model(key.settings, key.observed, key.acted)


def _of_world_model(config: RunConfig, observed: spaces.Space[Any], acted: spaces.Space[Any]) -> Costs:
    codec, parts = ActionCodec(acted), parts_of(observed)
    learner = eqx.filter_eval_shape(
        Learner.create, parts, codec.size, config.learner, discrete=codec.discrete, key=jax.random.key(0)
    )
    stored = as_layout(layout(observed, parts, codec.size))
    rows = {name: np.zeros((config.batch, config.length, *field.shape), field.dtype) for name, field in stored.items()}
    batch = jax.tree.map(jnp.asarray, as_sequences(rows, parts))
    update = matmul_flops(lambda me, seen: learn(me, seen, config.learner, key=jax.random.key(0)), learner, batch)
    memory = eqx.filter_eval_shape(nothing_yet, learner.model, 1, codec.size)
    seen = {part.key: batch.obs[part.key][0, :1] for part in parts}
    step = matmul_flops(
        lambda me, memory: act(me.model, me.task.actor, memory, seen, jnp.zeros(1, bool), key=jax.random.key(0)),
        learner,
        memory,
    )
    trace, traces, search = 0.0, 0.0, 0.0
    if config.shield is not None:
        trace, search = _of_shield(config, learner, memory)
        traces = float(config.shield.decides.expected_samples(1.0))
    return Costs(update, step, trace, traces, search, _parameters(learner), _bytes(learner), _row(stored))


def _of_shield(config: RunConfig, learner: Learner, memory: Any) -> tuple[float, float]:
    """Of one trace, and of one search."""
    assert config.shield is not None
    assert config.learner.safety is not None
    horizon, look_ahead = config.learner.behaviour.horizon, config.learner.safety.look_ahead
    shield_config = config.shield

    def one(me: Learner, memory: Any, *, search: bool) -> Any:
        state, action = jax.tree.map(lambda each: each[0], (memory.state, memory.action))
        shield, start = shield_of(me, shield_config, horizon, look_ahead), without_gradient(state)
        if search:
            return shield.backup.sample(start, key=jax.random.key(0))
        return shield.trace(start, action, jax.random.key(0))

    trace = matmul_flops(functools.partial(one, search=False), learner, memory)
    if shield_config.safe_actions != "searched":
        # One action of the safe policy is next to nothing.
        return trace, 0.0
    return trace, matmul_flops(functools.partial(one, search=True), learner, memory)


def _of_values(config: ValueRunConfig, observed: spaces.Space[Any], acted: spaces.Space[Any]) -> Costs:
    assert isinstance(acted, spaces.Discrete)
    part, how, batch = part_of(observed), config.learner, config.batch
    learner = eqx.filter_eval_shape(ValueLearner.create, part, int(acted.n), how, key=jax.random.key(0))
    frames = jnp.zeros((batch, how.stack, *(observed.shape or ())), observed.dtype)
    numbers = jnp.zeros(batch)
    drawn = Transitions(frames, jnp.zeros(batch, jnp.int32), numbers, numbers, frames, numbers)
    update = matmul_flops(lambda me, seen: learn_values(me, seen, how, 1, key=jax.random.key(0)), learner, drawn)
    step = matmul_flops(
        lambda me, seen: acting.act(me.online, seen, how, jnp.float32(0), key=jax.random.key(0)), learner, frames[:1]
    )
    stored = as_layout(layout(observed, (part,), int(acted.n)))
    return Costs(update, step, 0.0, 0.0, 0.0, learner.weights.size, _bytes(learner), _row(stored))


def _parameters(learner: Any) -> int:
    named = jax.tree_util.tree_leaves_with_path(learner)
    own = [
        leaf for path, leaf in named if not any(word in jax.tree_util.keystr(path) for word in ("slow", "optimiser"))
    ]
    return sum(leaf.size for leaf in own if hasattr(leaf, "size"))


def _bytes(tree: Any) -> int:
    return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(tree) if hasattr(leaf, "dtype"))


def _row(stored: Mapping[str, Any]) -> int:
    return sum(field.nbytes for field in stored.values())

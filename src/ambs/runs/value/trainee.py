"""Rainbow and IQN as a run trains them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import equinox as eqx
import jax
import numpy as np
from gymnasium import spaces
from jaxtyping import Array, Float, Int, PRNGKeyArray

from ambs.agents.player import ActionCodec
from ambs.envs.vector import VectorEnv
from ambs.errors import AmbsError
from ambs.replay import Drawn, Priorities, Ring
from ambs.runs.dreamer.counters import Counters
from ambs.runs.dreamer.position import Position
from ambs.runs.dreamer.rows import layout
from ambs.runs.trainee import Trainee
from ambs.runs.value.config import ValueRunConfig
from ambs.value_agents.acting import act_ranked, see
from ambs.value_agents.config import ValueConfig
from ambs.value_agents.learner import Transitions, ValueLearner, learn
from ambs.world_model.parts import Part, parts_of

_create = eqx.filter_jit(ValueLearner.create)
# Not by Equinox, which tells arrays from the rest anew at every call: here it is known that two are no arrays.
_learn = jax.jit(learn, static_argnames=("config", "target_every"), donate_argnames="learner")


@functools.partial(jax.jit, static_argnames="config")
def _act(
    learner: ValueLearner, frames: Array, config: ValueConfig, epsilon: Float[Array, ""], *, key: PRNGKeyArray
) -> tuple[Int[Array, " envs"], Float[Array, "envs actions"]]:
    """Of the network that learns; to be unpacked, it has to be within what is compiled."""
    return act_ranked(learner.online, frames, config, epsilon, key=key)


class ValueTrainee(Trainee):
    """A network of values, the one it learns from, and the priorities of what it learns from."""

    may_change: ClassVar[frozenset[str]] = frozenset({"learner.optimiser.learning_rate"})

    def __init__(self, config: ValueRunConfig, vec: VectorEnv, *, key: PRNGKeyArray) -> None:
        self.config, self.space = config, vec.single_observation_space
        self.codec = ActionCodec(vec.single_action_space)
        self.part = part_of(self.space)
        self.learner = _create(self.part, self.codec.size, config.learner, key=key)
        how = config.learner
        self.priorities = Priorities(
            config.capacity // config.envs, config.envs, stack=how.stack, steps=how.rewards, discount=how.discount,
            clip=how.clip_rewards,
        )  # fmt: skip
        self._steps = 0

    @classmethod
    def require(cls, config: ValueRunConfig, vec: VectorEnv) -> None:
        require_supported(config.agent, vec.single_observation_space, vec.single_action_space)

    @classmethod
    def begin(cls, config: ValueRunConfig, vec: VectorEnv, *, key: PRNGKeyArray) -> ValueTrainee:
        return cls(config, vec, key=key)

    @classmethod
    def summary(cls, config: ValueRunConfig, counters: Counters) -> dict[str, Any]:
        return {"without": list(config.learner.without)} if config.learner.without else {}

    def layout(self) -> dict[str, Any]:
        return layout(self.space, (self.part,), self.codec.size)

    def nothing_yet(self) -> np.ndarray:
        return no_frames(self.space, self.config.learner.stack, self.config.envs)

    def start(self, folder: Path, ring: Ring, steps: int) -> None:
        self.priorities.forget_lost(ring)

    def stored(self, ring: Ring) -> None:
        self.priorities.stored(ring)

    def act(
        self, position: Position, counters: Counters, *, key: PRNGKeyArray
    ) -> Float[np.ndarray, "envs actions"] | None:
        self.pass_over(position)
        self._steps = counters.steps
        how = self.config.learner
        epsilon = np.float32(how.epsilon(self._learned_for()))
        chosen, values = _act(self.learner, position.memory, how, epsilon, key=key)
        position.action = np.eye(self.codec.size, dtype=np.float32)[np.asarray(chosen)]
        asked = self.config.guard is not None and self.config.guard.ranks
        return np.asarray(values) if asked else None

    def played(self, position: Position) -> None:
        """Of actions nothing is remembered."""

    def pass_over(self, position: Position) -> None:
        assert isinstance(position.batch.obs, np.ndarray)
        position.memory = see(position.memory, position.batch.obs, position.batch.is_first)

    def ready(self, ring: Ring) -> bool:
        return self.priorities.ready

    def learn(self, ring: Ring, rng: np.random.Generator, *, key: PRNGKeyArray) -> Mapping[str, Array]:
        config = self.config
        drawn = self.priorities.draw(ring, rng, config.batch, config.learner.beta(self._learned_for()))
        self.learner, priorities, metrics = _learn(
            self.learner, as_transitions(drawn), config.learner, config.updates_per_target, key=key
        )
        # Here the host waits for the device: the next batch is drawn by these.
        self.priorities.change(drawn.which, np.asarray(priorities))
        return metrics

    def row(self) -> dict[str, float]:
        how, steps = self.config.learner, self._learned_for()
        annealed = {"beta": how.beta(steps)} if how.exponent else {}
        return {"epsilon": how.epsilon(steps)} | annealed

    def end_row(self) -> None:
        """Nothing is summed up over a row."""

    def save(self) -> None:
        """Nothing is kept beside the checkpoint."""

    def as_tree(self) -> dict[str, Any]:
        return {"learner": self.learner.apart(), "priorities": self.priorities.tree.leaves}

    def as_json(self) -> dict[str, Any]:
        return {"top_priority": self.priorities.top, "acted_at": self._steps}

    def go_back(self, tree: Mapping[str, Any], extra: Mapping[str, Any]) -> None:
        self.learner = self.learner.together(tree["learner"])
        self.priorities.tree.leaves = tree["priorities"]
        self.priorities.top, self._steps = extra["top_priority"], extra["acted_at"]

    def _learned_for(self) -> int:
        """Environment steps since learning began."""
        return max(0, self._steps - self.config.prefill)


def as_transitions(drawn: Drawn) -> Transitions:
    """What was drawn from the replay, for the learner; it is put on the device faster when it is called with it."""
    action = drawn.action.argmax(axis=1).astype(np.int32)
    arrays: Any = (drawn.frames, action, drawn.reward, drawn.discount, drawn.later, drawn.weight)
    return Transitions(*arrays)


def part_of(space: spaces.Space[Any]) -> Part:
    """The one part of an observation."""
    (part,) = parts_of(space)
    return part


def no_frames(space: spaces.Space[Any], stack: int, envs: int) -> np.ndarray:
    """What is seen before an episode begins: zeros, `[envs, stack, *observation]`."""
    return np.zeros((envs, stack, *(space.shape or ())), space.dtype)


def require_supported(agent: str, observed: spaces.Space[Any], acted: spaces.Space[Any]) -> None:
    """An error if the agent cannot learn in an environment with these spaces."""
    if not isinstance(acted, spaces.Discrete):
        raise AmbsError(
            f"the actions are {acted}, and {agent} chooses among Discrete ones; take the agent dreamer or ambs if they "
            "are a Box of floats, or make them Discrete, e.g. with gymnasium.wrappers.TransformAction."
        )
    if isinstance(observed, spaces.Dict):
        raise AmbsError(
            f"the observation is a Dict of {', '.join(map(str, observed.spaces))}, and {agent} sees one array; take "
            "the agent dreamer or ambs, or flatten it with gymnasium.wrappers.FlattenObservation."
        )
    parts_of(observed)

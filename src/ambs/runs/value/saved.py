"""A run of Rainbow or IQN as it is on disk: its configuration, and the network that acts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
from gymnasium import spaces

from ambs.errors import AmbsError
from ambs.runs.dreamer.saved import last_good, make_env, only, rebuilt, values_of
from ambs.runs.value.config import ValueRunConfig
from ambs.runs.value.trainee import part_of
from ambs.value_agents.learner import ValueLearner
from ambs.value_agents.networks import Network


@dataclass(frozen=True)
class SavedValues:
    """What acts, and the spaces of the environment that it was learned in."""

    config: ValueRunConfig
    step: int
    """Environment steps of training."""
    network: Network
    observation_space: spaces.Space[Any]
    action_space: spaces.Discrete


def read(path: Path) -> SavedValues:
    """The run in `path`, as of its last good checkpoint."""
    config = rebuilt(ValueRunConfig, values_of(path), f"{path / 'config.json'}")
    env = make_env(config)
    observed, acted = env.observation_space, env.action_space
    env.close()
    assert isinstance(acted, spaces.Discrete)
    learner = eqx.filter_eval_shape(
        lambda key: ValueLearner.create(part_of(observed), int(acted.n), config.learner, key=key).apart(),
        jax.random.key(0),
    )
    checkpoint = last_good(path / "checkpoints", {"learner": only(learner, (".online",))})
    if checkpoint is None:
        raise AmbsError(f"the run {path} has no good checkpoint yet; wait for its first, or train it for longer.")
    return SavedValues(config, checkpoint.step, checkpoint.tree["learner"].online, observed, acted)

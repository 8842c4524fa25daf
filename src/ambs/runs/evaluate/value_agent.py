"""Rainbow or IQN loaded from its run, asked for actions as every other agent."""

from __future__ import annotations

from typing import Any, NoReturn

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np

from ambs.agents.player import ActionCodec
from ambs.errors import AmbsError
from ambs.runs.dreamer.saved import make_env
from ambs.runs.evaluate.agent import checked_seed, flags
from ambs.runs.evaluate.observed import observed
from ambs.runs.evaluate.shields import chosen
from ambs.runs.value.saved import SavedValues
from ambs.runs.value.trainee import no_frames
from ambs.value_agents.acting import act, act_ranked, see


class ValueAgent:
    """What a run has learned so far; `ambs.load` makes one.

    Attributes:
        config: what the run was told.
        step: environment steps of training behind it.
        observation_space, action_space: of one environment.
        chosen: the shield it is played with, which is the environment's: `predict` knows nothing of it.
    """

    shielded = False

    def __init__(self, saved: SavedValues, *, seed: Any = 0, shield: Any = True) -> None:
        self.saved = saved
        self.chosen = chosen(saved.config, shield)
        self._asked_for = shield
        self.config, self.step = saved.config, saved.step
        self.observation_space, self.action_space = saved.observation_space, saved.action_space
        self._codec = ActionCodec(saved.action_space)
        self._key = jax.random.key(checked_seed(seed))

    def again(self, seed: Any, shield: Any = None) -> ValueAgent:
        """The same agent with random numbers of its own, and with another shield, if one is given as to `load`."""
        return ValueAgent(self.saved, seed=seed, shield=self._asked_for if shield is None else shield)

    def make_env(self, **options: Any) -> gymnasium.Env[Any, Any]:
        """An environment as the agent was trained in, its formula too; `options` as `ambs.make` takes them."""
        return make_env(self.config, **options)

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, np.ndarray]:
        """The next action, and what to remember until then: the last frames.

        Args:
            observation: One, as the observation space has it; or a batch, with one axis more in front.
            state: What the call before returned; None at the beginning.
            episode_start: Whether an episode begins here, and all before is to be forgotten: a bool, or one a row.
            deterministic: The action of the highest value, by noiseless weights or by evenly spread quantiles; rather
                than one with the noise, or with as many random ones, as at the end of training.
        """
        action, frames, _ = self.propose(observation, state, episode_start, deterministic)
        return action, frames

    def propose(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """As `predict`, and the values of all actions, a row an environment, if it is played with a shield of the
        environment's that asks."""
        parts, rows, alone = observed(observation, self.observation_space)
        how = self.config.learner
        none = no_frames(self.observation_space, how.stack, rows)
        frames = none if state is None else _checked(state, none)
        frames = see(frames, parts[""], flags(episode_start, rows) | (state is None))
        key = jax.random.key(0)
        if not deterministic:
            self._key, key = jax.random.split(self._key)
        epsilon = jnp.float32(0.0 if how.has("noisy") else how.least_epsilon)
        given, values = (self.saved.network, jnp.asarray(frames), how, epsilon), None
        if self.chosen.guard is not None and self.chosen.guard.ranks:
            chosen, values = act_ranked(*given, key=key, greedy=deterministic)
        else:
            chosen = act(*given, key=key, greedy=deterministic)
        actions = self._codec.decode(np.eye(self._codec.size, dtype=np.float32)[np.asarray(chosen)])
        return (actions[0] if alone else actions), frames, None if values is None else np.asarray(values)

    def played(self, state: np.ndarray, actions: Any) -> np.ndarray:
        """What to remember where others have chosen the actions: of those, nothing."""
        return state

    def decide(self, *_: Any, **__: Any) -> NoReturn:
        raise AmbsError("this agent has no shield, so nothing is decided; use predict, or load a run of ambs.")


def _checked(state: Any, like: np.ndarray) -> np.ndarray:
    if not isinstance(state, np.ndarray) or state.shape[1:] != like.shape[1:] or state.dtype != like.dtype:
        raise AmbsError("the state is not one that predict returned; give None at the beginning.")
    if len(state) != len(like):
        raise AmbsError(
            f"the state is of {len(state)} environments, and the observation of {len(like)}; keep one state for each "
            "batch of environments."
        )
    return state

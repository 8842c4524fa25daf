"""An agent loaded from its run, asked for actions in the manner of Stable-Baselines3."""

from __future__ import annotations

import zlib
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray

from ambs.agents.backup import Backup
from ambs.agents.player import ActionCodec, Memory, act, nothing_yet, preferences
from ambs.agents.shielding import ShieldConfig, act_shielded
from ambs.errors import AmbsError
from ambs.runs.dreamer.saved import Saved, make_env
from ambs.runs.evaluate.observed import observed
from ambs.runs.evaluate.shields import chosen
from ambs.types import Decision


class SavedAgent:
    """What a run has learned so far; `ambs.load` makes one.

    Attributes:
        config: what the run was told.
        step: environment steps of training behind it.
        observation_space, action_space: of one environment.
        chosen: the shield it is played with. One that is the environment's is asked by whoever steps that, as
            `ambs.runs.evaluate.evaluate` does; `predict` knows nothing of it.
    """

    def __init__(self, saved: Saved, *, seed: Any = 0, shield: Any = True) -> None:
        self.saved = saved
        self.chosen = chosen(saved.config, shield)
        self._shield: tuple[ShieldConfig, int] | None = None
        self._backup: Backup | None = None
        safety, own = saved.config.learner.safety, self.chosen.shield
        if own is not None and safety is not None:
            self._shield = (own, safety.look_ahead)
            self._backup = None if own.backup is None else Backup(own.backup, saved.action_space)
        self._asked_for = shield
        self.config, self.step = saved.config, saved.step
        self.observation_space, self.action_space = saved.observation_space, saved.action_space
        self._codec = ActionCodec(saved.action_space)
        self._key = jax.random.key(checked_seed(seed))

    def again(self, seed: Any, shield: Any = None) -> SavedAgent:
        """The same agent with random numbers of its own, and with another shield, if one is given as to `load`."""
        return SavedAgent(self.saved, seed=seed, shield=self._asked_for if shield is None else shield)

    def make_env(self, **options: Any) -> gymnasium.Env[Any, Any]:
        """An environment as the agent was trained in, its formula too; `options` as `ambs.make` takes them."""
        return make_env(self.config, **options)

    @property
    def shielded(self) -> bool:
        """Whether actions are verified before they are given."""
        return self._shield is not None

    def predict(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Memory]:
        """The next action, and what to remember until then; of an agent with a shield, the action that passed it.

        Args:
            observation: One, as the observation space has it; or a batch, with one axis more in front.
            state: What the call before returned; None at the beginning.
            episode_start: Whether an episode begins here, and all before is to be forgotten: a bool, or one a row.
            deterministic: The likeliest action rather than one drawn by its probability; likewise for the model's
                latent variables, so that the answer depends on nothing but what was seen. What a shield imagines is
                drawn by what was seen, too: anew at every step, and alike when the same is seen again.
        """
        action, memory, _ = self._next(observation, state, episode_start, deterministic)
        return action, memory

    def propose(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Memory, np.ndarray | None]:
        """As `predict`, and how the policy ranks all actions, a row an environment, if it is played with a shield of
        the environment's that asks."""
        action, memory = self.predict(observation, state, episode_start, deterministic)
        if self.chosen.guard is None or not self.chosen.guard.ranks:
            return action, memory, None
        return action, memory, np.asarray(preferences(self.saved.learner.task.actor, memory))

    def played(self, state: Memory, actions: Any) -> Memory:
        """What to remember where others have chosen the actions: `predict`'s state, with these, a row each."""
        encoded = np.stack([self._codec.encode(action) for action in actions])
        return Memory(state.state, jnp.asarray(encoded))

    def decide(
        self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False
    ) -> tuple[Any, Memory, Decision]:
        """As `predict`, and what the shield decided: an array a field, with a row an environment.

        The `action` of the decision is the one that is played, as the environment takes it.
        """
        action, memory, decision = self._next(observation, state, episode_start, deterministic)
        if decision is None:
            raise AmbsError("this agent has no shield, so nothing is decided; use predict, or load a run of ambs.")
        fields: dict[str, Any] = {
            name: np.asarray(value) for name, value in decision._asdict().items() if name != "action"
        }
        return action, memory, Decision(action=action, **fields)

    def _next(
        self, observation: Any, state: Any, episode_start: Any, deterministic: bool
    ) -> tuple[Any, Memory, Decision | None]:
        parts, rows, alone = observed(observation, self.observation_space)
        first = jnp.asarray(flags(episode_start, rows) | (state is None))
        memory = self._fresh(rows) if state is None else _checked_memory(state, rows)
        seen = {key: jnp.asarray(value) for key, value in parts.items()}
        learner, decision = self.saved.learner, None
        if deterministic:
            key = _key_of((parts, memory, first))
        else:
            self._key, key = jax.random.split(self._key)
        if self._shield is None:
            _, memory = act(learner.model, learner.task.actor, memory, seen, first, key=key, likeliest=deterministic)
        else:
            _, memory, decision = act_shielded(
                learner, *self._shield, memory, seen, first, key=key, likeliest=deterministic
            )
            if self._backup is not None:
                rows_seen = jax.tree.map(
                    lambda each: np.asarray(each)[None] if alone else np.asarray(each), observation
                )
                memory, decision = self._backup(memory, decision, rows_seen)
        actions = self._codec.decode(np.asarray(memory.action))
        return (actions[0] if alone else actions), memory, decision

    def _fresh(self, rows: int) -> Memory:
        return nothing_yet(self.saved.learner.model, rows, self._codec.size)


def _key_of(seen: Any) -> PRNGKeyArray:
    """Of the bits of what was seen and is remembered: futures of one step say nothing of those of another."""
    digest = 0
    for leaf in jax.tree.leaves(seen):
        digest = zlib.crc32(np.ascontiguousarray(leaf).tobytes(), digest)
    return jax.random.key(digest)


def checked_seed(seed: Any) -> int:
    whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**32:
        raise AmbsError(f"the seed is {seed!r}, and has to be a whole number from 0 to 2^32 - 1.")
    return int(seed)


def flags(episode_start: Any, rows: int) -> np.ndarray:
    """Where episodes begin, a row each."""
    flags = np.asarray(False if episode_start is None else episode_start)
    # 0 and 1 are bools too in Stable-Baselines3's examples: np.ones((n,)), with floats.
    if flags.shape not in ((), (rows,)) or not np.isin(flags, (0, 1)).all():
        raise AmbsError(f"episode_start is {episode_start!r}, and has to be a bool, or {rows} of them: one a row.")
    return np.broadcast_to(flags.astype(bool), (rows,))


def _checked_memory(state: Any, rows: int) -> Memory:
    if not isinstance(state, Memory):
        raise AmbsError("the state is not one that predict returned; give None at the beginning.")
    if len(state.action) != rows:
        raise AmbsError(
            f"the state is of {len(state.action)} environments, and the observation of {rows}; keep one state for each "
            "batch of environments."
        )
    return state

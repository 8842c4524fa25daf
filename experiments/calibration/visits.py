"""States that an agent visits, and what became of them: by the shielded agent, by its task policy, or by probes.

shielded   as the agent acts: proposals that pass are played, for the others the safe policy acts
task       every proposal is played
probes     as task; but now and then a proposal is followed by T-1 steps of the safe policy
random     as task; but every other proposal, by a coin, is any action: what a trained policy visits and proposes is
           nearly all safe, and says nothing about how danger is told. Only where the world can be rolled out
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PRNGKeyArray

from ambs.agents.learner import Learner
from ambs.agents.player import ActionCodec, Memory, nothing_yet, propose, see
from ambs.agents.shielding import ShieldConfig, decide
from ambs.envs.vector.seeds import env_seed
from ambs.runs.evaluate.agent import SavedAgent
from ambs.runs.evaluate.observed import observed
from ambs.world_model.model import WorldState

PLAYS = ("shielded", "task", "probes", "random")
GOES_ON, TERMINATED, TRUNCATED = range(3)
UNSAFE, SAFE, UNKNOWN = range(3)


@dataclass(frozen=True)
class Visits:
    """One row a step: `[steps, envs, ...]`."""

    state: WorldState
    proposed: np.ndarray
    cell: Int[np.ndarray, "steps envs"]
    """What the environment calls its state, -1 if it does not number them."""
    episode: Int[np.ndarray, "steps envs"]
    opens: Bool[np.ndarray, "steps envs"]
    """The proposal was played: a window may begin here."""
    follows: Bool[np.ndarray, "steps envs"]
    """A window that has begun goes on: this is the policy that it is about."""
    violated: Bool[np.ndarray, "steps envs"]
    """The state that was entered breaks the formula."""
    ended: Int[np.ndarray, "steps envs"]


def play(agent: SavedAgent, how: str, steps: int, envs: int, seed: int) -> Visits:
    """So many steps in each of the environments, side by side."""
    learner, config = agent.saved.learner, agent.config
    safety = config.learner.safety
    assert safety is not None
    assert config.shield is not None
    likeliest = config.shield.safe_actions != "sampled"
    shield = config.shield if how == "shielded" else None
    codec, rng, key = ActionCodec(agent.action_space), np.random.default_rng(seed), jax.random.key(seed)
    worlds = [agent.make_env() for _ in range(envs)]
    episodes = np.zeros(envs, int)
    started = [world.reset(seed=env_seed(seed, i, 0)) for i, world in enumerate(worlds)]
    seen, infos = [each[0] for each in started], [each[1] for each in started]
    memory, first, left = nothing_yet(learner.model, envs, codec.size), np.ones(envs, bool), np.zeros(envs, int)
    rows: list[tuple[Any, ...]] = []
    for _ in range(steps):
        key, now = jax.random.split(key)
        parts = {
            name: jnp.asarray(part) for name, part in observed(np.stack(seen), agent.observation_space).parts.items()
        }
        state, proposed, safe, refused = _look(
            learner, shield, safety.look_ahead, memory, parts, jnp.asarray(first), key=now, likeliest=likeliest
        )
        if how == "random":
            drawn = codec.random(rng, envs)
            proposed = jnp.where(rng.random((envs, 1)) < 0.5, drawn, proposed)
        probing = left > 0
        begins = (how == "probes") & ~probing & (rng.random(envs) < 1 / safety.look_ahead)
        left = np.where(begins, safety.look_ahead - 1, np.maximum(left - 1, 0))
        by_safe = np.asarray(refused) | probing
        action = np.where(by_safe[:, None], np.asarray(safe), np.asarray(proposed))
        opens = begins if how == "probes" else ~by_safe
        follows = probing if how == "probes" else ~by_safe
        memory = Memory(state, jnp.asarray(action))
        cell, episode = np.array([info.get("state", -1) for info in infos]), episodes * envs + np.arange(envs)
        first, violated, ended = np.zeros(envs, bool), np.zeros(envs, bool), np.full(envs, GOES_ON)
        for i, (world, each) in enumerate(zip(worlds, codec.decode(action), strict=True)):
            seen[i], _, terminated, truncated, infos[i] = world.step(each)
            violated[i] = infos[i]["cost"] > 0
            if terminated or truncated:
                ended[i] = TERMINATED if terminated else TRUNCATED
                episodes[i] += 1
                seen[i], infos[i] = world.reset(seed=env_seed(seed, i, int(episodes[i])))
                first[i], left[i] = True, 0
        rows.append(
            (jax.tree.map(np.asarray, state), np.asarray(proposed), cell, episode, opens, follows, violated, ended)
        )
    for world in worlds:
        world.close()
    return Visits(*jax.tree.map(lambda *leaves: np.stack(leaves), *rows))


def windows(visits: Visits, steps: int) -> Int[np.ndarray, "steps envs"]:
    """Of every step what the next `steps` states came to: SAFE, UNSAFE, or UNKNOWN.

    Unknown is where no window begins, and where one was cut short: by another policy's action, by a time limit, or by
    the end of play; also where it had been unsafe before that, or only unsafe ones would be known there. An episode
    that terminates stays as it ended. Windows that overrides cut are those that the shield believed unsafe, so the ones
    of shielded play that are left are safer than their kind.
    """
    length, envs = visits.violated.shape
    found = np.full((length, envs), UNKNOWN)
    for env in range(envs):
        for begin in np.flatnonzero(visits.opens[:, env]):
            unsafe = False
            for step in range(begin, min(begin + steps, length)):
                if step > begin and not visits.follows[step, env]:
                    break
                unsafe |= bool(visits.violated[step, env])
                if visits.ended[step, env] == TERMINATED or step == begin + steps - 1:
                    found[begin, env] = UNSAFE if unsafe else SAFE
                    break
                if visits.ended[step, env] == TRUNCATED:
                    break
    return found


@eqx.filter_jit
def _look(
    learner: Learner, shield: ShieldConfig | None, look_ahead: int, memory: Memory, obs: Mapping[str, Array],
    first: Bool[Array, " envs"], *, key: PRNGKeyArray, likeliest: bool,
) -> tuple[WorldState, Array, Array, Array]:  # fmt: skip
    """The state, what either policy would do in it, and whether the shield refuses the task policy's; of a shield, the
    second action is what it plays."""
    assert learner.safety is not None
    look, choose, otherwise, verify = jax.random.split(key, 4)
    state = see(learner.model, memory, obs, first, key=look)
    proposed = propose(learner.task.actor, state, key=choose)
    safe = propose(learner.safety.policy.actor, state, key=otherwise, likeliest=likeliest)
    if shield is None:
        return state, proposed, safe, jnp.zeros(first.shape, bool)
    decision = decide(learner, shield, learner.task.config.horizon, look_ahead, state, proposed, key=verify)
    # What is played there may be another action than the safe policy's: one that was searched for.
    return state, proposed, decision.action, decision.overridden

"""What the conveyor really does after a proposed action: by rollouts of the world itself, and by an exact chain.

What a policy that remembers does in a cell depends on how it got there, so it makes no Markov chain of the cells. The
truth is therefore sampled, from the visited cell and latent state on, in the world's own tables: unbiased, with a
standard error. The chain in which the policy does in every cell what it did there on average is exact, but another
policy's; how far the two are apart says how much the memory matters.
"""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from ambs.agents.player import propose
from ambs.behaviour.actor import Actor, Choice
from ambs.envs.catalogue import find
from ambs.envs.conveyor import Conveyor
from ambs.envs.kernel import labels, slips
from ambs.envs.labels import cost_of
from ambs.envs.observations import observer
from ambs.runs.evaluate.agent import SavedAgent
from ambs.runs.evaluate.observed import observed
from ambs.verify.families import exact
from ambs.world_model.model import WorldModel, WorldState


class World(eqx.Module):
    """The conveyor as tables, and what the model's encoder makes of every cell."""

    destinations: Int[Array, "cells directions"]
    directions: Float[Array, "actions directions"]
    unsafe: Bool[Array, " cells"]
    seen: Float[Array, "cells units"]

    @classmethod
    def of(cls, agent: SavedAgent) -> World:
        env = _conveyor(agent)
        look = observer(env.layout, agent.config.env_options.get("observation", "onehot"))
        pictures = np.stack([look(cell) for cell in range(env.layout.states)])
        parts = {name: jnp.asarray(part) for name, part in observed(pictures, agent.observation_space).parts.items()}
        model = agent.saved.learner.model
        return cls(
            jnp.asarray(env.layout.destinations), jnp.asarray(slips(env.slip)),
            jnp.asarray(_unsafe(agent, env)), model.embed(model.prepare(parts)),
        )  # fmt: skip


class Futures(NamedTuple):
    """Of every visited state, many futures."""

    violation: Int[Array, "states futures"]
    """The step at which the formula was first broken, counted from 1; more than were made if it was not."""
    acted: Float[Array, "cells actions"]
    """How often each action was likely in each cell, summed over all futures until they broke the formula."""


@eqx.filter_jit
def futures(
    world: World, model: WorldModel, actor: Actor, state: WorldState, cell: Int[Array, " states"],
    proposed: Float[Array, "states actions"], steps: int, count: int, *, key: PRNGKeyArray,
    likeliest: bool = False,
) -> Futures:  # fmt: skip
    """Plays the proposed action and then `actor`, which goes on remembering, for `steps` steps, `count` times over.

    `likeliest`: the actor plays its likeliest action, rather than one that is drawn.
    """
    fresh, never = model.rssm.initial((count,)), jnp.zeros(count, bool)

    def one(row: tuple[WorldState, Array, Array, PRNGKeyArray]) -> Futures:
        begin = jax.tree.map(lambda each: jnp.broadcast_to(each[None], (count, *each.shape)), row[:3])

        def step(carry: tuple[WorldState, Array, Array, Array], now: tuple[Array, PRNGKeyArray]) -> tuple[tuple, Array]:
            (state, cell, action, violation), (time, key) = carry, now
            slip, look, choose = jax.random.split(key, 3)
            direction = jax.random.categorical(slip, jnp.log(world.directions[jnp.argmax(action, axis=-1)]))
            cell = world.destinations[cell, direction]
            violation = jnp.where(world.unsafe[cell], jnp.minimum(violation, time), violation)
            state = model.notice(state, action, world.seen[cell], never, fresh, key=look)
            alive = (violation > time).astype(jnp.float32)
            policy = actor(state.features)
            assert isinstance(policy, Choice)
            probs = (policy.mode() if likeliest else policy.probs) * alive[:, None]
            acted = jax.ops.segment_sum(probs, cell, len(world.unsafe))
            action = propose(actor, state, key=choose, likeliest=likeliest)
            return (state, cell, action, violation), acted

        times = (jnp.arange(1, steps + 1), jax.random.split(row[3], steps))
        (*_, violation), acted = jax.lax.scan(step, (*begin, jnp.full(count, steps + 1)), times)
        return Futures(violation, acted.sum(axis=0))

    found = jax.lax.map(one, (state, cell, proposed, jax.random.split(key, len(cell))))
    return Futures(found.violation, found.acted.sum(axis=0))


def by_chain(agent: SavedAgent, acted: Float[np.ndarray, "cells actions"], steps: int) -> np.ndarray:
    """μ(s, a), `[cells, actions]`, if the policy did in every cell what it did there on average; uniform where it never
    came."""
    env, total = _conveyor(agent), acted.sum(axis=1, keepdims=True)
    policy = np.where(total > 0, acted / np.where(total > 0, total, 1), 1 / acted.shape[1])
    world = dataclasses.replace(env.mdp(), labels={"unsafe": _unsafe(agent, env)})
    return (world.kernel @ exact(world.under(policy), steps - 1)).reshape(len(acted), -1)


def compared(
    rollouts: Float[np.ndarray, " states"], chain: Float[np.ndarray, " states"], count: int
) -> dict[str, float]:
    """How far the chain of the averaged policy is from the rollouts, and how far chance alone would put them apart."""
    error = np.sqrt(chain * (1 - chain) / count)
    apart = rollouts - chain
    return {
        "mean_rollouts": float(rollouts.mean()),
        "mean_chain": float(chain.mean()),
        "root_mean_square_difference": float(np.sqrt(np.mean(apart**2))),
        "of_that_by_chance": float(np.sqrt(np.mean(error**2))),
        "greatest_difference": float(np.abs(apart).max()),
        "within_two_standard_errors": float(np.mean(np.abs(apart) <= 2 * error + 1e-9)),
    }


def _conveyor(agent: SavedAgent) -> Conveyor:
    env = agent.make_env().unwrapped
    assert isinstance(env, Conveyor)
    return env


def _unsafe(agent: SavedAgent, env: Conveyor) -> Bool[np.ndarray, " cells"]:
    formula = agent.config.formula or find(agent.config.env).formula
    return np.asarray(cost_of(formula, labels(env.layout)) > 0)

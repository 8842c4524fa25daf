"""How right a learned model is on the conveyor: the steps that it imagines beside the world's exact kernel.

An agent plays, and from the states on its way its model imagines T steps with one of its policies. Each imagined state
is read as the cell whose observation the decoder finds likeliest there; then every imagined step is a move from cell to
cell, and the kernel says how likely that is. Told are the share of steps that cannot happen, and the distance in total
variation of the imagined moves from the kernel's, averaged over the pairs of cell and action as often as they came up.

A shield that is told of impossible falls finds its backup policy unsafe where it is not, and refuses everything.

    python -m experiments.imagined_steps RUN [RUN ...] [--policy safe] [--steps 200] [--seed 1000]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import ambs
from ambs.agents.shielding import safe_policy
from ambs.envs import Conveyor
from ambs.envs.observations import observer
from ambs.shield.imagine import imagine
from ambs.world_model.model import WorldModel
from ambs.world_model.parts import as_parts

AHEAD, TRACES = 30, 64


@eqx.filter_jit
def walks(model: WorldModel, policy: Any, state: Any, cells: dict[str, jax.Array], key: jax.Array) -> Any:
    """The cells and actions of imagined walks from one state, a row a walk."""
    start = jax.tree.map(lambda each: each[0], state)

    def walk(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        rolled = imagine(model, policy, start, AHEAD, key=key)
        if model.decoder is None:
            raise SystemExit("this asks the decoder, and a model whose grids are cells has none.")
        each = jax.vmap(lambda seen: model.decoder.loss(rolled.states.features, jax.tree.map(for_all, seen)))(cells)
        return jnp.argmin(each, axis=0), jnp.argmax(rolled.actions, axis=-1)

    return jax.vmap(walk)(jax.random.split(key, TRACES))


def for_all(seen: jax.Array) -> jax.Array:
    return jnp.broadcast_to(seen, (AHEAD, *seen.shape))


def moves(run: Path, policy: str, steps: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """How often each move was imagined, [cell, action, cell], and the kernel in the same shape."""
    agent = ambs.load(run)
    env = agent.make_env()
    world = env.unwrapped
    if not isinstance(world, Conveyor):
        raise SystemExit(f"{run} was trained in {agent.config.env}, and only conveyor worlds have a kernel here.")
    learner = agent.saved.learner
    actor = learner.task.actor if policy == "task" else safe_policy(learner.safety, agent.config.shield)
    count = world.layout.states
    look = observer(world.layout, agent.config.env_options.get("observation", "onehot"))
    cells = learner.model.prepare(as_parts(np.stack([look(cell) for cell in range(count)])))
    imagined = np.zeros((count, 5, count))
    observation, info = env.reset(seed=seed)
    state, first, key = None, True, jax.random.key(seed)
    for time in range(steps):
        action, state, _ = agent.decide(observation, state, np.array([first]))
        if time % 4 == 0:
            key, draw = jax.random.split(key)
            entered, chosen = map(np.asarray, walks(learner.model, actor, state.state, cells, draw))
            before = np.concatenate([np.full((TRACES, 1), info["state"]), entered[:, :-1]], axis=1)
            np.add.at(imagined, (before, chosen, entered), 1)
        observation, _, terminated, truncated, info = env.step(int(action))
        first = terminated or truncated
        if first:
            observation, info = env.reset()
    return imagined, world.mdp().kernel.toarray().reshape(count, 5, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--policy", choices=("safe", "task"), default="safe", help="who walks in imagination")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1000)
    options = parser.parse_args()
    print("| run | imagined steps | impossible | total variation |\n|---|---|---|---|")
    for run in options.runs:
        imagined, kernel = moves(run, options.policy, options.steps, options.seed)
        often = imagined.sum(axis=2)
        distance = 0.5 * np.abs(imagined / np.maximum(often, 1)[..., None] - kernel).sum(axis=2)
        impossible = imagined[kernel == 0].sum() / imagined.sum()
        apart = (distance * often).sum() / often.sum()
        print(f"| {run.name} | {int(imagined.sum()):,} | {impossible:.3f} | {apart:.3f} |")


if __name__ == "__main__":
    main()

"""Does a world model of cells know what a hit is, or only the hits that it has seen?

The model alone learns from random steps of a game, and its heads are asked of other episodes: as they are, told mostly
of what is and was next to the player (`ambs.world_model.sight`), and told of everything alike. The loss of somebody who
knows only how rare violations are stands beside it.

    python -m experiments.known_by_heart minatar-asterix [--steps 4000] [--updates 300] [--seed 0]

writes results/known_by_heart/GAME.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path
from typing import Any
from unittest import mock

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import ambs
from ambs.agents.learner import Learner, LearnerConfig, _learn_model
from ambs.files import write_text
from ambs.runs.dreamer.config import cells_learner
from ambs.world_model import board, sight
from ambs.world_model.model import Sequences
from ambs.world_model.parts import parts_of

FOLDER = Path(__file__).parent.parent / "results" / "known_by_heart"
ENVS, BATCH, LENGTH, LOOKS = 8, 16, 16, 5
EVENTS = ("safety", "continue", "cost", "reward")


def collected(game: str, steps: int, seed: int) -> Sequences:
    """Random play, `[envs, steps, ...]`."""
    lanes = []
    for lane in range(ENVS):
        env, rng, rows = ambs.make(game), np.random.default_rng([seed, lane]), []
        count = int(env.action_space.n)  # type: ignore[attr-defined]
        ended = True
        while len(rows) < steps // ENVS:
            if ended:
                seen, info = env.reset(seed=int(rng.integers(2**31)))
                rows.append((seen, np.zeros(count), 0.0, info["cost"], True, False))
            action = int(rng.integers(count))
            seen, reward, ended, _, info = env.step(action)
            rows.append((seen, np.eye(count)[action], reward, info["cost"], False, ended))
        lanes.append([np.stack(column[: steps // ENVS]) for column in zip(*rows, strict=True)])
    seen, action, reward, cost, first, terminal = (np.stack(column) for column in zip(*lanes, strict=True))
    return Sequences({"": seen}, *(np.float32(each) for each in (action, reward, cost)), first, terminal)


def some(rows: Sequences, rng: np.random.Generator) -> Sequences:
    """Sequences from anywhere."""
    lane, begin = rng.integers(ENVS, size=BATCH), rng.integers(rows.is_first.shape[1] - LENGTH, size=BATCH)
    return jax.tree.map(
        lambda each: jnp.asarray(np.stack([each[i, t : t + LENGTH] for i, t in zip(lane, begin, strict=True)])), rows
    )


def learned(game: str, config: LearnerConfig, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The losses on what it learns from and on other episodes, some times along the way."""
    space = ambs.make(game).observation_space
    known, others = collected(game, options.steps, options.seed), collected(game, options.steps, options.seed + 1)
    actions = known.action.shape[-1]
    learner = Learner.create(parts_of(space), actions, config, discrete=True, key=jax.random.key(options.seed))

    @eqx.filter_jit
    def step(learner: Learner, batch: Sequences, key: Any) -> tuple[Learner, dict[str, Any]]:
        model, _, optimiser, told = _learn_model(learner, batch, config, key=key)
        return eqx.tree_at(lambda me: (me.model, me.optimisers["world_model"]), learner, (model, optimiser)), told

    @eqx.filter_jit
    def losses(learner: Learner, batch: Sequences) -> dict[str, Any]:
        batch = batch._replace(is_first=batch.is_first.at[:, 0].set(True))
        return learner.model.losses(batch, learner.model.rssm.initial((BATCH,)), key=jax.random.key(0))[0]

    rng, found = np.random.default_rng(options.seed), []
    for update in range(options.updates):
        learner, _ = step(learner, some(known, rng), jax.random.key(update))
        if (update + 1) % (options.updates // LOOKS) == 0:
            row: dict[str, Any] = {"updates": update + 1}
            for name, rows in (("known", known), ("others", others)):
                again = np.random.default_rng(9)
                each = [losses(learner, some(rows, again)) for _ in range(12)]
                row[name] = {loss: round(float(np.mean([one[loss] for one in each])), 4) for loss in each[0]}
            found.append(row)
            print(game, row, flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    config = cells_learner()
    rate = float((collected(options.game, options.steps, options.seed + 1).cost > 0).mean())
    kept: dict[str, Any] = {
        "settings": vars(options), "violations": rate,
        "by_the_rate_alone": round(float(-rate * np.log(rate) - (1 - rate) * np.log(1 - rate)), 4),
        "near": learned(options.game, config, options),
    }  # fmt: skip
    # As it was before: all alike, and heads that learn on draws as well.
    with mock.patch.object(sight, "FAR", 1.0), mock.patch.object(board, "FAR", 1.0):
        kept["alike"] = learned(options.game, dataclasses.replace(config, ahead=1.0), options)
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_text(FOLDER / f"{options.game}.json", json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()

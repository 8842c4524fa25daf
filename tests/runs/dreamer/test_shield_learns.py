"""The shield keeps what it is for: with it, an agent that learns everything from nothing soon falls into acid less.

The smallest networks, the cell's number for an observation, and an agent that has found no reward yet: its task policy
is as good as random. What it meets is compared with random play, and in the end with its own play without the shield.
"""

import dataclasses
import json

import numpy as np

import ambs
from ambs.agents.optimiser import OptimiserConfig
from ambs.agents.shielding import ShieldConfig
from ambs.runs.dreamer import RunConfig, cpu_learner, train
from ambs.runs.dreamer.config import with_safety
from ambs.runs.evaluate import evaluate

STEPS, SETTLED = 3_000, 2_000


def random_violations(steps):
    env = ambs.make("conveyor")
    env.action_space.seed(0)
    env.reset(seed=0)
    found = 0
    for _ in range(steps):
        *_, truncated, info = env.step(env.action_space.sample())
        found += info["cost"] > 0
        if truncated:
            env.reset()
    return found


def test_violations_become_rare_and_the_task_policy_keeps_acting(tmp_path, optimised):
    quick = OptimiserConfig(3e-3, 1e-5, 100.0)
    learner = dataclasses.replace(
        cpu_learner("debug"), world_model=OptimiserConfig(5e-3, 1e-8, 1000.0), actor=quick, critic=quick
    )
    config = RunConfig(
        env="conveyor", env_options={"observation": "state"}, steps=STEPS, envs=4, workers="inline", train_ratio=128.0,
        prefill=500, log_every=500, tensorboard=False, learner=with_safety(learner, 30),
        shield=ShieldConfig("recover", safe_actions="sampled"),
    )  # fmt: skip
    train(config, tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    violations = {row["step"]: row["violations"] for row in rows}
    late = [row for row in rows if row["step"] > SETTLED]
    rate = (violations[STEPS] - violations[SETTLED]) / (STEPS - SETTLED)
    assert rate < 0.7 * random_violations(20_000) / 20_000
    # The same agent, with its shield and without it, in the same episodes.
    kept, bare = (
        evaluate(ambs.load(tmp_path, shield=shield), episodes=12, seed=1, workers="inline").as_json()
        for shield in (True, False)
    )
    assert kept["violations_per_1000_steps"] < 0.7 * bare["violations_per_1000_steps"]
    # Neither idle nor always in the way.
    assert 0.02 < np.mean([row["shield/override_rate"] for row in late]) < 0.9
    # It was: before the model knew anything, nothing was believed to be safe.
    assert rows[1]["shield/override_rate"] > 0.9

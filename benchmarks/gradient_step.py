"""One gradient step of the world model and the task behaviour, taken apart, beside the machine's own matrix products.

And one of AMBS, which learns a second policy and three more critics besides.

16 sequences of 64 images 64×64×3, 18 actions, 15 steps imagined from all 1,024 states, random data: what other
implementations were measured at. CPU seconds, the least of some rounds; between rounds the rate of a float32 matrix
product is measured too. The share of it that the step reaches counts the operations of its matrix products once: what
is computed again to save memory is not credited. Sums of rows, by which products with one-hots are done in imagination,
count as the products that they take the place of; what is left to multiply without them is told beside it.

    python -m benchmarks.gradient_step [--sizes tiny s] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from rich.table import Table

from ambs.agents.learner import Learner, LearnerConfig, learn
from ambs.agents.optimiser import update
from ambs.behaviour.dreaming import gradients, roll_out
from ambs.bench.flops import matmul_flops
from ambs.commands.output import console
from ambs.files import write_text
from ambs.runs.dreamer.config import with_safety
from ambs.world_model import chunks, sizes
from ambs.world_model.latent import balanced_kl
from ambs.world_model.model import Sequences
from ambs.world_model.numbers import TwoHot
from ambs.world_model.parts import Part
from benchmarks.flops import matmul_rate, written_out

BATCH, LENGTH, ACTIONS = 16, 64, 18
KEY = jax.random.key(0)


class Still(eqx.Module):
    """An encoder that takes no time, so that the rest can be measured without it."""

    embedded: jax.Array

    def __call__(self, seen: Any) -> jax.Array:
        return self.embedded


def data() -> Sequences:
    rng, shape = np.random.default_rng(0), (BATCH, LENGTH)
    return jax.tree.map(
        jnp.asarray,
        Sequences(
            {"": rng.integers(0, 256, (*shape, 64, 64, 3), dtype=np.uint8)},
            np.eye(ACTIONS, dtype=np.float32)[rng.integers(ACTIONS, size=shape)],
            rng.normal(size=shape).astype(np.float32),
            np.zeros(shape, np.float32),
            np.zeros(shape, bool),
            np.zeros(shape, bool),
        ),
    )


def seconds(function: Callable[..., Any], *arguments: Any, rounds: int) -> tuple[float, float, list[float]]:
    """CPU seconds of the first call, of the quickest later one, and the rates of matrix products in between."""
    compiled = eqx.filter_jit(function)

    def one() -> float:
        start = time.process_time()
        jax.block_until_ready(compiled(*arguments))
        return time.process_time() - start

    first, times, rates = one(), [], []
    for _ in range(rounds):
        times.append(one())
        rates.append(matmul_rate())
    return first, min(times), rates


def pieces(learner: Learner, batch: Sequences, config: LearnerConfig) -> dict[str, tuple[Callable[..., Any], Any]]:
    """Parts of the step, each with its gradient where it has one, and what they are given."""
    model, task = learner.model, learner.task
    seen = model.prepare(batch.obs)
    shape = (BATCH, LENGTH)
    states = jax.tree.map(jnp.array, model.rssm.initial(shape))
    blind = eqx.tree_at(lambda me: me.encoder, model, Still(jnp.zeros((*shape, model.encoder.embedding))))

    def images(parts: Any) -> Any:
        encoder, decoder = parts
        return (encoder(seen) ** 2).sum() + decoder.loss(states.features, seen).sum()

    def dynamics(rssm: Any) -> Any:
        following = eqx.tree_at(lambda me: me.rssm, blind, rssm)
        followed, posteriors = following.follow(batch, seen, rssm.initial((BATCH,)), key=KEY)
        return sum(each.sum() for each in balanced_kl(posteriors, rssm.prior(followed.h))) + followed.features.sum()

    def heads(parts: Any) -> Any:
        reward, cost, continuation, safety = parts
        losses = TwoHot(reward(states.features)).loss(batch.reward) + TwoHot(cost(states.features)).loss(batch.cost)
        return (losses + continuation(states.features) + safety(states.features)).sum()

    starts = jax.tree.map(lambda each: each.reshape(-1, *each.shape[2:]), states)
    alive = jnp.ones(BATCH * LENGTH, bool)

    # What is given is not known to the compiler, which would spend minutes on computing with it beforehand.
    def dream(given: Any) -> Any:
        model, actor, starts = given
        return roll_out(model, actor, starts, alive, config.behaviour.horizon, model.predict_reward, key=KEY)

    dreaming = (model, task.actor, starts)
    imagined = eqx.filter_jit(dream)(dreaming)
    state = learner.optimisers["world_model"]
    weights = eqx.filter(model, eqx.is_inexact_array)
    return {
        "encoder and decoder": (eqx.filter_grad(images), (model.encoder, model.decoder)),
        "dynamics": (eqx.filter_grad(dynamics), model.rssm),
        "heads": (eqx.filter_grad(heads), (model.reward, model.cost, model.continuation, model.safety)),
        "imagination": (dream, dreaming),
        "actor and critic": (lambda given: gradients(given[0], lambda _: given[1]), (task, imagined)),
        "optimiser": (lambda model: update(config.world_model, model, weights, state), model),
    }


def fresh(config: LearnerConfig) -> Learner:
    return Learner.create((Part("", "image", (64, 64, 3)),), ACTIONS, config, discrete=True, key=KEY)


def measure(name: str, images: str, rounds: int) -> dict[str, Any]:
    config = LearnerConfig(size=name, images=images)
    learner, batch = fresh(config), data()

    def step(learner: Learner, batch: Sequences) -> Any:
        return learn(learner, batch, config, key=KEY)

    first, whole, rates = seconds(step, learner, batch, rounds=rounds)
    shielded = with_safety(config)
    _, with_ambs, more = seconds(
        lambda learner, batch: learn(learner, batch, shielded, key=KEY), fresh(shielded), batch, rounds=rounds
    )
    rates += more
    parts = {}
    for part, (function, argument) in pieces(learner, batch, config).items():
        _, parts[part], more = seconds(function, argument, rounds=rounds)
        rates += more
    once, chunks.IMAGES = chunks.IMAGES, BATCH * LENGTH
    multiplied = matmul_flops(step, learner, batch)
    with written_out():
        flops = matmul_flops(lambda *both: step(*both), learner, batch)
    chunks.IMAGES = once
    rate = float(np.median(rates))
    trained = eqx.filter((learner.model, learner.task.actor, learner.task.critic), eqx.is_array)
    return {
        "size": name,
        "images": images,
        "parameters": sum(leaf.size for leaf in jax.tree.leaves(trained)),
        "cpu_seconds": whole,
        "cpu_seconds_of_ambs": with_ambs,
        "first_call_cpu_seconds": first,
        "parts": parts,
        "gflop": flops / 1e9,
        "gflop_multiplied": multiplied / 1e9,
        "matmul_gflop_per_cpu_second": rate / 1e9,
        "share_of_matmul_rate": flops / whole / rate,
    }


def show(results: list[dict[str, Any]]) -> None:
    table = Table("", *(f"{one['size']}, {one['images']}" for one in results), title="CPU seconds of a gradient step")
    for name, of in (
        ("parameters, millions", lambda one: f"{one['parameters'] / 1e6:.1f}"),
        ("whole step", lambda one: f"{one['cpu_seconds']:.2f}"),
        ("whole step of AMBS", lambda one: f"{one['cpu_seconds_of_ambs']:.2f}"),
        ("(rest)", lambda one: f"{one['cpu_seconds'] - sum(one['parts'].values()):.2f}"),
        *((part, lambda one, part=part: f"{one['parts'][part]:.2f}") for part in results[0]["parts"]),
        ("first call, with compiling", lambda one: f"{one['first_call_cpu_seconds']:.1f}"),
        ("matrix products, GFLOP", lambda one: f"{one['gflop']:.0f}"),
        ("of which multiplied", lambda one: f"{one['gflop_multiplied']:.0f}"),
        ("share of this machine's rate", lambda one: f"{one['share_of_matmul_rate']:.0%}"),
    ):
        table.add_row(name, *(of(one) for one in results))
    console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["tiny", "s"], choices=list(sizes.SIZES))
    parser.add_argument("--images", nargs="+", default=["patches", "convolutions"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where to keep the numbers")
    options = parser.parse_args()
    results = [measure(size, images, options.rounds) for size in options.sizes for images in options.images]
    show(results)
    if options.json:
        write_text(options.json, json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()

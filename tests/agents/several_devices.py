"""Run in a process of its own: learns on one device and on four, and prints what came out, as JSON."""

import dataclasses
import json

import equinox as eqx
import jax
import numpy as np

from ambs.agents.learner import Learner, learn
from ambs.agents.placement import Placement
from ambs.runs.dreamer.config import cpu_learner
from ambs.world_model.model import Sequences
from ambs.world_model.parts import Part


def main() -> None:
    rng = np.random.default_rng(0)
    shape = (8, 8)
    batch = Sequences(
        {"camera": rng.integers(0, 256, (*shape, 16, 16, 3), dtype=np.uint8), "speed": rng.normal(size=(*shape, 2))},
        np.eye(3, dtype=np.float32)[rng.integers(3, size=shape)],
        rng.normal(size=shape).astype(np.float32),
        rng.integers(2, size=shape).astype(np.float32),
        rng.random(shape) < 0.1,
        rng.random(shape) < 0.1,
    )
    parts = (Part("camera", "image", (16, 16, 3)), Part("speed", "vector", (2,)))
    # Fewer starts than states, as in a run: drawing them must not bring everything to every device.
    config = dataclasses.replace(cpu_learner("debug"), starts=32)
    step = eqx.filter_jit(lambda learner, batch, key: learn(learner, batch, config, key=key))
    answer = {}
    for count in (1, 4):
        place = Placement(8, jax.devices()[:count])
        learner = place.copy(Learner.create(parts, 3, config, discrete=True, key=jax.random.key(0)))
        rows = []
        for key in jax.random.split(jax.random.key(1), 3):
            learner, metrics = step(learner, place.split(batch), place.copy(key))
            rows.append({name: float(value) for name, value in metrics.items()})
        weights = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(eqx.filter(learner.model, eqx.is_array))])
        spread = len(learner.model.reward.out.weight.sharding.device_set)
        answer[count] = {"rows": rows, "weights": weights[::97].tolist(), "devices": spread}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()

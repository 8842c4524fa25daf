"""Run in a process of its own: whole runs on one device and on four, and what came out of them, as JSON."""

import dataclasses
import json
import sys
from pathlib import Path

import jax
import numpy as np

from ambs.agents.placement import Placement
from ambs.runs.devices import keep_compiled
from ambs.runs.dreamer import train
from tests.runs.dreamer.small import SMALL, rows, weights


def main(folder: Path) -> None:
    keep_compiled()
    # Fewer starts than states, as in a run: drawing them must not bring everything to every device.
    learner = dataclasses.replace(SMALL.learner, starts=16)
    config = dataclasses.replace(
        SMALL, env_options={"observation": "image"}, batch=4, train_ratio=8.0, prefill=32, log_every=4, steps=48,
        learner=learner,
    )  # fmt: skip
    answer = {}
    for name, first, then in (("one", 1, 1), ("four", 4, 4), ("four, then one", 4, 1)):
        path = folder / name
        train(dataclasses.replace(config, devices=first), path)
        summary = train(dataclasses.replace(config, devices=then, steps=56), path)
        arrays = [np.ravel(array) for key, array in sorted(weights(path).items()) if ".model" in key]
        answer[name] = {
            "counters": {key: summary[key] for key in ("steps", "updates", "episodes", "violations")},
            "rows": [row for row in rows(path, "metrics") if row["step"] > 32],
            "weights": np.concatenate(arrays)[::97].tolist(),
        }
    spread = {count: len(Placement(4, count).copy(jax.numpy.ones(3)).sharding.device_set) for count in (None, 1, 4)}
    print(json.dumps({"runs": answer, "spread": [spread[count] for count in (None, 1, 4)]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""`G<=30 !bad` on a chain of 10^6 states and 5·10^6 transitions: ambs beside Storm, in one run.

Both get the model in memory and are timed on the check alone, for all states, several times; the ratio of the
medians is what to read, as absolute times vary from machine to machine. Storm is the one that its Python wheel
ships, with its default settings.

    python -m benchmarks.exact_checking [--states 1000000] [--repeats 5] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import stormpy
from scipy import sparse

import ambs
from ambs.logic import FiniteModel, check
from ambs.logic.storm import storm_text
from tests.logic.storm_oracle import to_storm

DEGREE = 5
STEPS = 30


def random_chain(states: int, seed: int) -> FiniteModel:
    rng = np.random.default_rng(seed)
    # Distinct successors, so that there are exactly five transitions a state.
    target = (
        rng.integers(0, states, (states, 1)) + np.cumsum(rng.integers(1, states // 6, (states, 5)), axis=1)
    ) % states
    weight = rng.dirichlet(np.ones(DEGREE), states)
    kernel = sparse.csr_array(
        (weight.ravel(), target.ravel(), np.arange(0, DEGREE * states + 1, DEGREE)), shape=(states, states)
    )
    return FiniteModel.chain(kernel, {"bad": rng.random(states) < 0.01})


def timed(function: Callable[[], object], repeats: int) -> list[float]:
    function()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=10**6)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="also write the numbers to this file")
    options = parser.parse_args()

    model = random_chain(options.states, options.seed)
    formula = ambs.parse(f"P=? [ G<={STEPS} !bad ]")
    print(f"{model.states:,} states, {model.transitions:,} transitions, {formula}")
    storm_model = to_storm(model)
    text, complement = storm_text(formula)
    storm_property = stormpy.parse_properties(text)[0]

    def by_ambs() -> np.ndarray:
        return check(model, formula).values

    def by_storm() -> object:
        return stormpy.model_checking(storm_model, storm_property)

    # A product with the vector alone: the least that thirty backups can cost in compiled code.
    vector = np.ones(model.states)

    def products() -> None:
        for _ in range(STEPS):
            model.kernel @ vector

    ours, storms, floor = (timed(f, options.repeats) for f in (by_ambs, by_storm, products))
    answer = by_storm()
    sample = np.random.default_rng(1).integers(0, model.states, 2000)
    value = np.array([answer.get_value(int(state)) for state in sample])
    difference = float(np.abs((1 - value if complement else value) - by_ambs()[sample]).max())
    middle = {name: statistics.median(s) for name, s in (("ambs", ours), ("storm", storms), ("products", floor))}
    result = {
        "states": model.states,
        "transitions": model.transitions,
        "steps": STEPS,
        "repeats": options.repeats,
        "seed": options.seed,
        "median_seconds": middle,
        "storm_over_ambs": middle["storm"] / middle["ambs"],
        "ambs_over_products": middle["ambs"] / middle["products"],
        "largest_difference_on_2000_states": difference,
        "python": platform.python_version(),
        "stormpy": stormpy.__version__,
    }
    print(f"ambs   {middle['ambs']:8.3f} s   (min {min(ours):.3f})")
    print(f"Storm  {middle['storm']:8.3f} s   (min {min(storms):.3f}), {result['storm_over_ambs']:.1f} times ambs")
    print(f"30 sparse products alone {middle['products']:.3f} s: ambs is {result['ambs_over_products']:.2f} times that")
    print(f"largest difference on 2,000 states: {difference:.1e}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()

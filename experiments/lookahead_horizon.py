"""The paper's Figure 1 as a result: acid baths against how far the shield looks ahead.

The model is exact, the task policy the best that is blind to acid, the backup policy the safest: all that varies is the
horizon n of `P>=0.9 [ G<=n !acid ]`. Lines are exact (a shield that knows μ, by dynamic programming); points are the
compiled shield with ladder A, simulated, with 95 % intervals over episodes.

    python -m experiments.lookahead_horizon [--episodes 400] [--seed 0]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from rich.progress import track

import ambs
from ambs.files import write_text
from ambs.runs.figure import save
from ambs.runs.tabular.exact import EPISODE, Truth
from ambs.runs.tabular.figure import SHIELDED, UNSHIELDED
from experiments.statistics import half_width

MAPS = ("conveyor-figure1", "conveyor-long-belt")
HORIZONS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 20, 30)
THRESHOLD = 0.9
OUT = Path(__file__).parent.parent / "results" / "horizon"


def exact(truth: Truth, horizon: int) -> dict:
    deliveries, baths = truth.episode(truth.shielded(truth.best(), truth.safest(), horizon, THRESHOLD))
    return {"exact_baths": baths, "exact_return": deliveries}


def simulated(truth: Truth, horizon: int, episodes: int, seed: int) -> dict:
    """All episodes side by side, one compiled loop over their steps."""
    model = ambs.TabularModel(truth.kernel, {"acid": truth.unsafe})
    task, backup = (ambs.TabularPolicy(np.eye(5)[policy]) for policy in (truth.best(), truth.safest()))
    formula = f"P>={THRESHOLD} [ G<={horizon} !acid ]"
    shield = ambs.LookaheadShield(model, task, backup, formula, ambs.Ladder.level("A"))
    acid, reward = jnp.asarray(truth.unsafe), jnp.asarray(truth.reward)

    def one(state, key):
        proposing, shielding, moving = jax.random.split(key, 3)
        decision = shield(state, task.sample(state, key=proposing), key=shielding)
        following, _ = model.step(state, decision.action, key=moving)
        return following, (acid[following], reward[state, decision.action], decision.overridden, decision.traces)

    def step(states, key):
        return jax.vmap(one)(states, jax.random.split(key, episodes))

    keys = jax.random.split(jax.random.key(seed), EPISODE)
    start = jnp.full(episodes, truth.start, jnp.int32)
    _, (baths, paid, overridden, traces) = jax.jit(lambda states: jax.lax.scan(step, states, keys))(start)
    by_episode = np.asarray(baths).sum(axis=0).astype(float)
    return {
        "baths": float(by_episode.mean()),
        "half_width": float(half_width(by_episode)),
        "return": float(np.asarray(paid).sum(axis=0).mean()),
        "overridden": float(np.asarray(overridden).mean()),
        "traces": float(np.asarray(traces).mean()),
    }


def draw(rows: list[dict], path: Path) -> None:
    figure, columns = plt.subplots(2, len(MAPS), figsize=(10, 6), layout="constrained", sharex=True)
    for map, (above, below) in zip(MAPS, columns.T, strict=True):
        some = [row for row in rows if row["map"] == map]
        horizons = [row["horizon"] for row in some]
        above.plot(horizons, [row["exact_baths"] for row in some], color=UNSHIELDED, lw=1.5, label="exact shield")
        above.errorbar(
            horizons, [row["baths"] for row in some], yerr=[row["half_width"] for row in some], fmt="o", ms=4,
            color="0.15", capsize=2, label="ladder A, simulated",
        )  # fmt: skip
        below.plot(horizons, [row["exact_return"] for row in some], color=SHIELDED, lw=1.5, label="exact shield")
        below.plot(horizons, [row["return"] for row in some], "o", ms=4, color="0.15", label="ladder A, simulated")
        above.set(title=map, ylim=(-0.05, None))
        below.set(xlabel="look-ahead horizon n", ylim=0)
    columns[0, 0].set_ylabel("acid baths in 100 steps")
    columns[1, 0].set_ylabel("deliveries in 100 steps")
    columns[0, 0].legend(frameon=False)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    worlds = {map: Truth.of(ambs.make(map, observation="state").unwrapped) for map in MAPS}
    rows = [
        {"map": map, "horizon": horizon, "episodes": options.episodes, "seed": options.seed}
        | exact(worlds[map], horizon)
        | simulated(worlds[map], horizon, options.episodes, options.seed)
        for map, horizon in track([(map, n) for map in MAPS for n in HORIZONS], description="looking ahead")
    ]
    OUT.mkdir(parents=True, exist_ok=True)
    write_text(OUT / "horizon.json", json.dumps(rows, indent=1) + "\n")
    lines = ["| map | n | exact baths | simulated | exact return | simulated | overridden | traces |", "|" + "---|" * 8]
    for row in rows:
        baths = f"{row['exact_baths']:.3f} | {row['baths']:.3f} ± {row['half_width']:.3f}"
        paid = f"{row['exact_return']:.2f} | {row['return']:.2f}"
        effort = f"{100 * row['overridden']:.0f} % | {row['traces']:.0f}"
        lines.append(f"| {row['map']} | {row['horizon']} | {baths} | {paid} | {effort} |")
    write_text(OUT / "horizon.md", "\n".join(lines) + "\n")
    draw(rows, OUT / "horizon.png")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

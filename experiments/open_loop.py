"""What a trained model expects to see: a few frames are shown to it, then it goes on by itself, told only the actions.

Three rows of pictures: what happened, what the model saw in its mind, the difference. Left of the line it sees, right
of it it imagines. The episode is played by the run's own agent from a seed that training does not use.

    python -m experiments.open_loop RUN [--seen 5] [--imagined 25] [--skip 40] [--out FILE.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import matplotlib
import numpy as np

import ambs
from ambs.agents.player import ActionCodec
from ambs.world_model.model import WorldModel

matplotlib.use("Agg")
from matplotlib import pyplot as plt

SEED = 12345


def play(agent: Any, steps: int) -> tuple[list[Any], list[int]]:
    """Observations and the actions between them, of one episode if it lasts so long."""
    env = agent.make_env()
    observation, _ = env.reset(seed=SEED)
    seen, actions, state, start = [observation], [], None, True
    for _ in range(steps):
        action, state = agent.predict(observation, state, start)
        observation, _, terminated, truncated, _ = env.step(action)
        seen.append(observation)
        actions.append(action)
        start = False
        if terminated or truncated:
            raise SystemExit(f"the episode ended after {len(actions)} steps; choose a smaller --skip.")
    return seen, actions


@eqx.filter_jit
def expect(model: WorldModel, frames: Any, actions: Any, seen: int) -> Any:
    """The decoded pictures of all frames: after seeing each of the first, then without seeing."""
    state = model.rssm.initial((1,))
    pictures = []
    for time in range(len(frames)):
        key = jax.random.key(time)
        before = jnp.zeros_like(actions[:1]) if time == 0 else actions[time - 1 : time]
        if time < seen:
            state = model.observe(state, before, {"": frames[time : time + 1]}, jnp.array([time == 0]), key=key)
        else:
            state = model.rssm.imagine(state, before, key=key)
        pictures.append(model.decode(state)[""][0] + 0.5)
    return jnp.stack(pictures).clip(0, 1)


def draw(truth: np.ndarray, expected: np.ndarray, seen: int, path: Path) -> None:
    columns = [0, seen - 1, *np.linspace(seen, len(truth) - 1, 7).round().astype(int)]
    figure, axes = plt.subplots(3, len(columns), figsize=(1.5 * len(columns), 4.9))
    error = np.abs(truth - expected)
    for row, (name, pictures) in enumerate((("happened", truth), ("expected", expected), ("difference", error))):
        axes[row, 0].set_ylabel(name)
        for axis, time in zip(axes[row], columns, strict=True):
            axis.imshow(pictures[time])
            axis.set_xticks([])
            axis.set_yticks([])
            if row == 0:
                axis.set_title(f"seen {time + 1}" if time < seen else f"imagined {time - seen + 1}", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--seen", type=int, default=5)
    parser.add_argument("--imagined", type=int, default=25)
    parser.add_argument("--skip", type=int, default=40, help="steps of the episode before the first frame shown")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    agent = ambs.load(options.run)
    count = options.seen + options.imagined
    seen, actions = play(agent, options.skip + count)
    codec = ActionCodec(agent.action_space)
    frames = jnp.asarray(np.stack(seen[options.skip : options.skip + count]))
    played = jnp.asarray(np.eye(codec.size, dtype=np.float32)[actions[options.skip : options.skip + count]])
    expected = np.asarray(expect(agent.saved.learner.model, frames, played, options.seen))
    truth = np.asarray(frames, float) / 255
    path = options.out or options.run / "open_loop.png"
    draw(truth, expected, options.seen, path)
    error = np.abs(truth - expected).reshape(count, -1).mean(1)
    still = np.abs(truth - truth[options.seen - 1]).reshape(count, -1).mean(1)
    apart = [values[options.seen :].mean() for values in (error, still)]
    print(f"{path}: a pixel is off by {error[: options.seen].mean():.4f} where the model sees, by {apart[0]:.4f} where")
    print(f"it imagines; the last frame that it saw, held still, is off by {apart[1]:.4f}")


if __name__ == "__main__":
    main()

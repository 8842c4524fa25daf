"""A film of episodes that were evaluated: the same actions once more, in an environment that draws.

So the film shows the very episodes that were counted, also where actions were drawn at random.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path

import ambs
from ambs.envs.catalogue import listed
from ambs.envs.scripted import Policy, action_names
from ambs.errors import AmbsError
from ambs.runs.evaluate.evaluate import Evaluation
from ambs.runs.evaluate.loading import LoadedAgent
from ambs.runs.evaluate.play import Played
from ambs.runs.watch.moments import Moment, moments
from ambs.runs.watch.panel import Panel
from ambs.runs.watch.video import writing


def film(evaluation: Evaluation, path: Path, episodes: int = 1) -> None:
    """Writes a video of the first episodes, with labels, return and violations beside the picture."""
    agent = evaluation.agent
    how = "deterministic" if evaluation.deterministic else "sampled"
    env = agent.make_env()
    fps, atoms = int(env.metadata.get("render_fps", 15)), list(env.reset(seed=0)[1]["labels"])
    env.close()
    title = agent.config.env.rpartition(":")[2]
    panel = Panel(title, f"step {agent.step:,}, {how}, seed {evaluation.seed}", atoms, _psi(agent))
    with warnings.catch_warnings():
        # JAX fears for every process that is started; ffmpeg's takes nothing over from this one.
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        _write(panel, fps, replayed(evaluation, episodes), path)


def replayed(evaluation: Evaluation, episodes: int) -> Iterator[Moment]:
    """What there was to see in the first episodes."""
    env = evaluation.agent.make_env(render_mode="rgb_array")
    spec = listed(evaluation.agent.config.env)
    names = () if spec is None else action_names(spec)
    time = violations = 0
    try:
        for number, played in enumerate(evaluation.played[:episodes], start=1):
            again = moments(env, _repeat(played), names, played.episode.length, evaluation.seed_of(played))
            before, broken = time, violations
            for seen in again:
                time, violations = before + seen.time, broken + seen.violations
                yield dataclasses.replace(seen, time=time, episode=number, violations=violations)
    finally:
        env.close()


def require_filmable(agent: LoadedAgent, path: Path) -> None:
    """Says what would keep a film from being made, before hours of play."""
    if path.suffix.lower() != ".mp4":
        raise AmbsError(f"--video is {path}, and has to end in .mp4.")
    env = agent.make_env()
    modes = env.metadata.get("render_modes", [])
    env.close()
    if "rgb_array" not in modes:
        raise AmbsError(f"{agent.config.env} draws no picture, so it cannot be filmed; leave out --video.")


def _psi(agent: LoadedAgent) -> str:
    """What has to hold; an environment of the user's own may say so by its cost alone."""
    if agent.config.formula is not None:
        return str(ambs.parse(agent.config.formula))
    spec = listed(agent.config.env)
    return "the environment's own cost is 0" if spec is None else spec.formula


def _repeat(played: Played) -> Policy:
    actions = iter(played.actions)
    return lambda _observation, _info: next(actions)


def _write(panel: Panel, fps: int, seen: Iterator[Moment], path: Path) -> None:
    with writing(path, panel.size, fps) as add:
        for moment in seen:
            add(panel.draw(moment))

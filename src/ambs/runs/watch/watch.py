"""Films an environment: a video of every step, and a contact sheet of the steps at which something happens."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import gymnasium
from rich.console import Console
from rich.progress import track

import ambs
from ambs.envs.scripted import Policy, action_names, scripted
from ambs.envs.spec import EnvSpec
from ambs.envs.vector.seeds import env_seed
from ambs.runs.watch.moments import moments
from ambs.runs.watch.occasions import Occasions
from ambs.runs.watch.panel import Panel
from ambs.runs.watch.sheet import draw_sheet
from ambs.runs.watch.video import writing


def watch(
    spec: EnvSpec,
    policy: str,
    video: Path,
    sheet: Path,
    *,
    steps: int,
    seed: int,
    formula: str | None = None,
    fps: int | None = None,
) -> dict[str, Any]:
    """Writes the video and the sheet; returns what was counted."""
    options = {} if formula is None else {"formula": formula}
    env = ambs.make(spec.name, render_mode="rgb_array", **options)
    try:
        acts = _random(env, seed) if policy == "random" else scripted(spec, env)
        psi = spec.formula if formula is None else str(ambs.parse(formula))
        subtitle = f"{policy} policy, seed {seed}"
        panel = Panel(spec.name, subtitle, list(spec.atoms), psi)
        occasions = Occasions(list(spec.atoms))
        for path in (video, sheet):
            path.parent.mkdir(parents=True, exist_ok=True)
        seen = moments(env, acts, action_names(spec), steps, seed)
        last = None
        with writing(video, panel.size, fps or int(env.metadata.get("render_fps", 15))) as add:
            shown = track(seen, "filming", total=steps, console=Console(stderr=True), disable=not sys.stderr.isatty())
            for moment in shown:
                add(panel.draw(moment))
                occasions.see(moment)
                last = moment
        assert last is not None
        draw_sheet(sheet, f"{spec.name}    Ψ = {psi}", f"{subtitle}, {steps:,} steps", occasions, spec.atoms)
    finally:
        env.close()
    return {
        "env": spec.name,
        "policy": policy,
        "formula": psi,
        "seed": seed,
        "steps": last.time,
        "episodes": last.episode,
        "violations": last.violations,
        "fired": {atom: occasions.counts[atom] for atom in spec.atoms},
    }


def _random(env: gymnasium.Env[Any, Any], seed: int) -> Policy:
    # Not the environment's seed: the two would draw the same numbers, and chance would follow the actions.
    env.action_space.seed(env_seed(seed, 0))
    return lambda _, __: env.action_space.sample()

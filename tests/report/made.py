"""Run folders and kept files whose numbers a test chooses."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Episode = tuple[int, float, int]
"""Step at its end, return, violations."""


def config(
    env: str = "conveyor", agent: str = "dreamer", seed: int = 0, steps: int = 1000, **more: Any
) -> dict[str, Any]:
    return {
        "agent": agent,
        "env": env,
        "env_options": {},
        "formula": None,
        "seed": seed,
        "steps": steps,
        "envs": 8,
        **more,
    }


def summary(settings: dict[str, Any], episodes: Sequence[Episode], **more: Any) -> dict[str, Any]:
    returns = [each for _, each, _ in episodes]
    return {
        "env": settings["env"], "agent": settings["agent"], "seed": settings["seed"], "steps": settings["steps"],
        "episodes": len(episodes), "violations": sum(each for *_, each in episodes), "best_return": max(returns),
        "final_return": sum(returns[-100:]) / len(returns[-100:]), "wall_seconds": 90.0, **more,
    }  # fmt: skip


def folder(
    path: Path, settings: dict[str, Any], episodes: Sequence[Episode], *,
    metrics: Sequence[dict[str, Any]] = (), ended: bool = True, **more: Any,
) -> Path:  # fmt: skip
    """A run's folder; `more` is in its summary."""
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(settings))
    rows = [{"step": step, "return": each, "length": 1, "violations": number} for step, each, number in episodes]
    for name, each in (("scores", rows), ("metrics", metrics)):
        (path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in each))
    if ended:
        (path / "summary.json").write_text(json.dumps(summary(settings, episodes, **more)))
    return path


def learning(seed: int, *, steps: int, best: float, violations: float) -> list[Episode]:
    """Episodes of ten steps that get better, and in which less and less is violated."""
    return [
        (step, best * step / steps + seed % 3 * 0.1, int(violations * (1 - step / steps)) + (seed + step // 10) % 2)
        for step in range(10, steps + 1, 10)
    ]


def suite(
    path: Path, seeds: int = 4, steps: int = 1000, games: Sequence[str] = ("conveyor", "minatar-breakout")
) -> Path:
    """Three agents in some games: unshielded, and shielded by two criteria, of which `sound` is far safer."""
    for game in games:
        for seed in range(seeds):
            for criterion, best, violations in ((None, 7.0, 9.0), ("sound", 6.0, 2.0), ("paper", 6.5, 6.0)):
                agent = "dreamer" if criterion is None else "ambs"
                shield = None if criterion is None else {"criterion": criterion, "traces": 512}
                metrics = [
                    {"step": step, "shield/override_rate": 0.5 - 0.4 * step / steps, "shield/estimate": 0.9,
                     "shield/traces": 40.0 + seed}
                    for step in range(50, steps + 1, 50) if criterion
                ]  # fmt: skip
                folder(
                    path / f"{game}-{criterion or agent}-s{seed}",
                    config(game, agent, seed, steps, shield=shield),
                    learning(seed, steps=steps, best=best, violations=violations),
                    metrics=metrics, **({"override_rate": 0.3} if criterion else {}),
                )  # fmt: skip
    return path

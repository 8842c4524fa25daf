"""An evaluation: episodes that the agent did not learn from, and what they say about the ones to come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ambs.envs.guards import GuardConfig
from ambs.envs.vector import make_vec
from ambs.envs.vector.seeds import env_seed
from ambs.errors import AmbsError, positive_integer
from ambs.runs.dreamer.saved import guarded_maker_of
from ambs.runs.evaluate.agent import checked_seed
from ambs.runs.evaluate.loading import LoadedAgent
from ambs.runs.evaluate.play import Played, play, quotas
from ambs.runs.evaluate.shields import NONE
from ambs.verify.statistics import mean_interval, observed

CONFIDENCE = 0.95

# Hears of every episode that has been played.
Progress = Callable[[Played], None]


@dataclass(frozen=True)
class Evaluation:
    """Episodes of one agent under one seed, in the order of their environments."""

    agent: LoadedAgent
    seed: int
    deterministic: bool
    envs: int
    played: tuple[Played, ...]

    def seed_of(self, played: Played) -> int:
        """What its environment was reset with."""
        return env_seed(self.seed, played.env, played.number)

    def as_json(self) -> dict[str, Any]:
        episodes = [one.episode for one in self.played]
        returns, lengths, violations = (
            np.array([getattr(one, name) for one in episodes], float)
            for name in ("episode_return", "length", "violations")
        )
        name, guard = self.agent.chosen.name, self.agent.chosen.guard
        decided = {} if name == NONE else self._decided(name, int(lengths.sum()))
        cost = {} if guard is None else self._cost(guard, int(lengths.sum()))
        return {
            "env": self.agent.config.env,
            "agent": self.agent.config.agent,
            "shielded": name != NONE,
            "step": self.agent.step,
            "seed": self.seed,
            "deterministic": self.deterministic,
            "envs": self.envs,
            "episodes": len(episodes),
            "steps": int(lengths.sum()),
            "violations": int(violations.sum()),
            "violations_per_1000_steps": 1000 * float(violations.sum() / lengths.sum()),
            **decided,
            **cost,
            "confidence": CONFIDENCE,
            "return": _mean(returns),
            "length": _mean(lengths),
            "violations_per_episode": _mean(violations),
            "episodes_without_violation": _share(int((violations == 0).sum()), len(episodes)),
            "played": [
                {
                    "seed": self.seed_of(one),
                    "return": one.episode.episode_return,
                    "length": one.episode.length,
                    "violations": one.episode.violations,
                    "safe": one.episode.violations == 0,
                }
                for one in self.played
            ],
        }

    def _decided(self, name: str, decisions: int) -> dict[str, Any]:
        """What the shield decided, of which there is one decision a step: by the names that training logs."""
        known = sum(one.known for one in self.played)
        # Where nothing is known there is no mean, and 0 would say that all was unsafe.
        estimate = {"estimate": sum(one.estimates for one in self.played) / known} if known else {}
        drawn = self.agent.chosen.shield is not None
        traces = {"traces": sum(one.traces for one in self.played) / decisions} if drawn else {}
        overrides = sum(one.overrides for one in self.played)
        return {"shield": name, "override_rate": overrides / decisions, **estimate, **traces}

    def _cost(self, guard: GuardConfig, decisions: int) -> dict[str, Any]:
        """What the environment's guard took for each of its decisions, of which there is one a step."""
        return {
            "shield_options": asdict(guard),
            "simulator_steps_per_decision": sum(one.searched for one in self.played) / decisions,
            "milliseconds_per_decision": 1000 * sum(one.seconds for one in self.played) / decisions,
        }


def evaluate(
    agent: LoadedAgent,
    *,
    episodes: Any = 10,
    envs: Any = 8,
    seed: Any = 1000,
    deterministic: bool = False,
    workers: Any = "auto",
    progress: Progress = lambda played: None,
) -> Evaluation:
    """Plays `episodes` episodes in at most `envs` environments side by side.

    Args:
        agent: Whose own random numbers are left alone.
        episodes: How many, shared out evenly over the environments before they begin.
        envs: How many environments; the actions that are drawn depend on it, as on the seed.
        seed: Of the environments and of the actions; not the run's own, whose episodes the agent has learned from.
        deterministic: As `predict` has it.
        workers: As `make_vec` has it.
        progress: Called after each episode.
    """
    episodes, envs = positive_integer("episodes", episodes), positive_integer("envs", envs)
    config, seed = agent.config, checked_seed(seed)
    if seed == config.seed:
        raise AmbsError(f"the seed is {seed}, with which the run was trained; evaluate it with another.")
    player = agent.again(seed)
    quota = quotas(episodes, min(envs, episodes))
    played = []
    with make_vec(guarded_maker_of(config, agent.chosen.guard), len(quota), seed=seed, workers=workers) as vec:
        for one in play(player, vec, quota, deterministic=deterministic):
            progress(one)
            played.append(one)
    # Stable: those of one environment stay as they were played.
    played.sort(key=lambda one: one.env)
    return Evaluation(agent, seed, deterministic, len(quota), tuple(played))


def _mean(values: np.ndarray) -> dict[str, float | None]:
    """The mean with its t interval; one episode has none."""
    if len(values) == 1:
        return {"mean": float(values[0]), "low": None, "high": None}
    mean, low, high = mean_interval(values, CONFIDENCE)
    return {"mean": mean, "low": low, "high": high}


def _share(count: int, total: int) -> dict[str, float]:
    """A share with its Clopper-Pearson interval."""
    counted = observed(count, total, CONFIDENCE)
    return {"share": float(counted["rate"]), "low": float(counted["low"]), "high": float(counted["high"])}

"""The classical shield beside an environment whose exact dynamics are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from ambs.envs.guards.config import GuardConfig
from ambs.envs.guards.guarded import Verdict
from ambs.errors import AmbsError


@dataclass(frozen=True)
class ExactGuard:
    """A classical shield as tables, which can be sent to other processes: they need not compute it, nor have JAX.

    Attributes:
        safety, allowed, backup: as `ambs.ClassicalShield` has them.
        start: the number of the first action.
    """

    safety: np.ndarray
    allowed: np.ndarray
    backup: np.ndarray
    start: int

    @classmethod
    def of(cls, env: gymnasium.Env[Any, Any], config: GuardConfig, formula: str | None, name: str) -> ExactGuard:
        """Of an environment with an `mdp()`, and with the number of its state in `info["state"]`."""
        from ambs.shield.classical import ClassicalShield

        inside: Any = env.unwrapped
        if not hasattr(inside, "mdp") or "state" not in env.reset(seed=0)[1]:
            raise AmbsError(
                f"{name} has no mdp() that tells its exact dynamics, or does not tell its state; the shield classical "
                "is for conveyor worlds, and for your own that do."
            )
        if formula is None:
            raise AmbsError(
                f"what the shield classical is to keep in {name} is not known from its cost; give a formula."
            )
        model, space = inside.mdp(), env.action_space
        assert isinstance(space, spaces.Discrete)
        shield = ClassicalShield(model, formula, Delta=config.Delta, horizon=config.look_ahead)
        safety, allowed, backup = (np.asarray(table) for table in (shield.safety, shield.allowed, shield.backup))
        if safety.shape[1] != space.n:
            raise AmbsError(f"the mdp() of {name} has {safety.shape[1]} actions, and the environment {space.n}.")
        return cls(safety, allowed, backup, int(space.start))

    def __call__(self, action: Any, info: Mapping[str, Any], preferences: np.ndarray | None = None) -> Verdict:
        state, index = info["state"], action - self.start
        estimate = float(self.safety[state, index])
        if self.allowed[state, index]:
            return Verdict(action, False, estimate, 0)
        return Verdict(self.backup[state] + self.start, True, estimate, 0)

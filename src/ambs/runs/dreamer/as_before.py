"""Options that older runs do not have, and what they were then: such runs are read and go on as if they said so."""

from __future__ import annotations

from typing import Any

AS_BEFORE: dict[str, Any] = {
    "env_options": {}, "devices": None, "start": None, "pretrain": 0, "hold": 1, "shield.when": None,
    "learner.steps_ahead": 1, "learner.dynamics": 0.5, "learner.representation": 0.1, "guard": None,
    "learner.optimiser.half_after": None, "learner.safety.unsafe_ends": False,
    "learner.lagrangian": None, "learner.safety.penalty": None, "learner.safety.safety_discount": True,
    **{
        f"learner.{name}.{option}": before
        for name in ("world_model", "actor", "critic", "safety.critics")
        for option, before in (("second_decay", 0.999), ("half_after", None))
    },
}  # fmt: skip

"""Options that older runs do not have, and what they were then: such runs are read and go on as if they said so.

A run leaves them out of its configuration where they are as they were, so that older runs and newer ones say the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

AS_BEFORE: dict[str, Any] = {
    "env_options": {}, "devices": None, "start": None, "pretrain": 0, "hold": 1, "shield.when": None,
    "shield.explore": 0,
    "shield.safe_actions": "sampled",
    "learner.grids": "codes", "learner.images": None,
    "learner.steps_ahead": 1, "learner.dynamics": 0.5, "learner.representation": 0.1, "guard": None,
    "learner.safety.unsafe_ends": False, "learner.safety.unsafe_share": 1.0, "learner.safety.entropy": None,
    "learner.lagrangian": None, "learner.lagrangian.expected": False,
    "learner.safety.penalty": None, "learner.safety.safety_discount": True,
    **{f"learner.{name}.second_decay": 0.999 for name in ("world_model", "actor", "critic", "safety.critics")},
}  # fmt: skip

# Agents without a world model have these of them; any other agent is not ours, and what it leaves out is not known.
_OF_VALUES = ("env_options", "hold", "guard")
_HAS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("dreamer", "ambs", "lag"), tuple(AS_BEFORE)), **dict.fromkeys(("rainbow", "iqn"), _OF_VALUES)
}  # fmt: skip


def left_out(agent: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """By dotted name, what a saved configuration does not say of these; nothing of groups that it has not."""
    found = {}
    for option in _HAS.get(agent, ()):
        *groups, name = option.split(".")
        within: Any = config
        for group in groups:
            within = within.get(group) if isinstance(within, Mapping) else None
        if isinstance(within, Mapping) and name not in within:
            found[option] = AS_BEFORE[option]
    return found

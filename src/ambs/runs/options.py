"""The options of a configuration by dotted name, however it is nested."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """`{"shield": {"traces": 512}}` becomes `{"shield.traces": 512}`."""
    options: dict[str, Any] = {}
    for name, value in config.items():
        if isinstance(value, Mapping) and value:
            options |= flat(value, f"{prefix}{name}.")
        else:
            options[prefix + name] = value
    return options

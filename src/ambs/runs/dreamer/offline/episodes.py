"""Episodes as Minari stores them, as rows of a replay.

    episode_0/observations    [n + 1, ...], or one array a key where observations are dictionaries
    episode_0/actions         [n, ...]
    episode_0/rewards         [n]
    episode_0/terminations    [n]
    episode_0/truncations     [n]
    episode_0/infos/cost      [n], or [n + 1] with that of the reset

A cost above 0 is a violation, whatever its size: in the replay it is C, as of everything that the run itself meets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from ambs.agents.player import ActionCodec
from ambs.errors import AmbsError
from ambs.replay import Layout

_WHOLE = ("actions", "rewards", "terminations", "truncations")


def as_columns(
    stored: Mapping[str, Any], layout: Layout, space: spaces.Space[Any], violation_cost: float, where: str
) -> dict[str, np.ndarray]:  # fmt: skip
    """All episodes of a tree of arrays, one after the other, under the keys of `layout`; `space` is the actions'."""
    names = sorted((name for name in stored if name.startswith("episode_")), key=_number)
    if not names:
        raise AmbsError(f"{where} has no episodes: nothing in it is called episode_0, as Minari has them.")
    episodes = [
        _episode(stored[name], layout, space, violation_cost, f"{name} of {where}") for name in names
    ]  # fmt: skip
    return {key: np.concatenate([episode[key] for episode in episodes]) for key in layout}


def _number(name: str) -> int:
    digits = name.removeprefix("episode_")
    return int(digits) if digits.isdecimal() else -1


def _episode(
    stored: Mapping[str, Any], layout: Layout, space: spaces.Space[Any], violation_cost: float, where: str
) -> dict[str, np.ndarray]:  # fmt: skip
    """One row for what was seen first, and one for every step."""
    actions, rewards, terminations, _ = (_array(stored, name, where) for name in _WHOLE)
    steps = len(actions)
    for name, values in (("rewards", rewards), ("terminations", terminations)):
        _require_length(values, (steps,), name, steps, where)
    return {
        **_seen(stored, layout, steps, where),
        "action": _encoded(actions, space, where),
        "reward": np.concatenate([[0.0], _finite(rewards, "rewards", where)]).astype(np.float32),
        "cost": np.where(_costs(stored, steps, where) > 0, violation_cost, 0.0).astype(np.float32),
        "is_first": np.arange(steps + 1) == 0,
        "is_terminal": np.concatenate([[False], terminations.astype(bool)]),
    }


def _seen(stored: Mapping[str, Any], layout: Layout, steps: int, where: str) -> dict[str, np.ndarray]:
    columns = {}
    for key in (key for key in layout if key.startswith("obs/")):
        part, field = key.removeprefix("obs/"), layout[key]
        name = f"observations/{part}" if part else "observations"
        seen = _array(stored, name, where)
        _require_length(seen, (steps + 1,), name, steps, where)
        if seen.shape[1:] != field.shape or not np.can_cast(seen.dtype, field.dtype, "same_kind"):
            raise AmbsError(
                f"{name} in {where} are {seen.dtype.name} {list(seen.shape[1:])}, and the environment's are {field}; "
                "start from episodes of this environment."
            )
        columns[key] = _finite(seen, name, where).astype(field.dtype)
    return columns


def _encoded(actions: np.ndarray, space: spaces.Space[Any], where: str) -> np.ndarray:
    """As the model has them; the first row has none, for no action led there."""
    codec = ActionCodec(space)
    for action in actions:
        given = action if space.shape else np.asarray(action).item()
        if not space.contains(np.asarray(given, space.dtype) if space.shape else given):
            raise AmbsError(
                f"{where} has the action {given!r}, which is none of the environment: {space}; start from episodes "
                "of this environment."
            )
    encoded = [codec.encode(action) for action in actions]
    return np.stack([np.zeros(codec.size, np.float32), *encoded])


def _costs(stored: Mapping[str, Any], steps: int, where: str) -> np.ndarray:
    costs = _array(stored, "infos/cost", where, hint="; without costs nothing is learned of safety: put them there")
    _require_length(costs, (steps, steps + 1), "infos/cost", steps, where)
    costs = _finite(costs, "infos/cost", where)
    return costs if len(costs) == steps + 1 else np.concatenate([[0.0], costs])


def _array(stored: Mapping[str, Any], name: str, where: str, hint: str = "") -> np.ndarray:
    node: Any = stored
    for part in name.split("/"):
        if not isinstance(node, Mapping) or part not in node:
            raise AmbsError(f"{where} has no {name}{hint}.")
        node = node[part]
    if isinstance(node, Mapping):
        raise AmbsError(f"{name} in {where} is a group of {', '.join(node)}, and has to be an array.")
    return np.asarray(node)


def _require_length(values: np.ndarray, lengths: tuple[int, ...], name: str, steps: int, where: str) -> None:
    if values.ndim == 0 or len(values) not in lengths:
        has = "is a single value" if values.ndim == 0 else f"has {len(values)} of them"
        wanted = " or ".join(map(str, lengths))
        raise AmbsError(f"{name} in {where}: it {has}, and with {steps} actions there have to be {wanted}.")


def _finite(values: np.ndarray, name: str, where: str) -> np.ndarray:
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise AmbsError(f"{name} in {where} are not all finite numbers; leave such episodes out.")
    return values

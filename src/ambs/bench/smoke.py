"""Any run made so small that it takes seconds: the same agent, game, preset and shield, and nothing to be learned."""

from __future__ import annotations

from ambs.bench.suite import Options

STEPS = 160
_SMALL: Options = {
    "envs": 2, "workers": "inline", "batch": 2, "prefill": 32, "capacity": 1000, "checkpoint-every": 80,
    "log-every": 80, "tensorboard": False,
}  # fmt: skip
# A gradient step every 32 steps, as few as there can be and still be several.
_WORLD_MODEL: Options = {"size": "debug", "length": 16, "train-ratio": 1, "horizon": 3}
_VALUES: Options = {"units": 16, "update-every": 32}
# What would make a run longer.
_LEFT_OUT = ("pretrain", "offline-updates", "start-from")


def smoked(agent: str, options: Options) -> tuple[int, Options]:
    """Steps and options of the run, small."""
    kept = {name: value for name, value in options.items() if name not in _LEFT_OUT}
    return STEPS, {**kept, **_SMALL, **(_VALUES if agent in ("rainbow", "iqn") else _WORLD_MODEL)}

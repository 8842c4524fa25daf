"""Runs as a report needs them, from run folders (docs/run-folder.md) and from the small files that are kept of them.

A kept file is JSON with `summary`, `curve`, and if they are known `config`, `command` and `shield`, as
experiments/training_runs.py writes it: what is small enough to commit. Of such a run the episodes are known by parts of
equal length only, of a folder one by one.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from ambs.errors import AmbsError

SHIELD = "shield/"


@dataclass(frozen=True)
class Episodes:
    """What ended when: one entry an episode, or one for all that ended in a part of the run."""

    step: Int[np.ndarray, " ends"]
    returns: Float[np.ndarray, " ends"]
    """Their mean; NaN where none ended."""
    count: Int[np.ndarray, " ends"]
    violations: Int[np.ndarray, " ends"]
    one_by_one: bool


@dataclass(frozen=True)
class Run:
    """One training run."""

    source: str
    """Where it was read from."""
    env: str
    agent: str
    seed: int
    steps: int
    """How many were asked for."""
    reached: int
    """How many were made; no more than were asked for."""
    config: Mapping[str, Any] | None
    """As it was saved; None if that was not kept."""
    command: str | None
    """That made it, as far as that was kept."""
    summary: Mapping[str, Any] | None
    """None while the run is not finished."""
    episodes: Episodes
    shield: Mapping[str, tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]]
    """Name of what was measured → steps and numbers; empty without a shield."""
    called: str | None = None
    """What the suite that it is a run of calls its agent; None of runs of no suite."""

    @property
    def finished(self) -> bool:
        return self.summary is not None

    @property
    def minutes(self) -> float | None:
        """By the clock; None while it is not finished, or if it was not kept."""
        seconds = None if self.summary is None else self.summary.get("wall_seconds")
        return None if seconds is None else seconds / 60

    @property
    def made_by(self) -> Mapping[str, Any]:
        """Versions, commit and machine, as its summary has them; empty, if it was not told."""
        found = None if self.summary is None else self.summary.get("made_by")
        return found if isinstance(found, Mapping) else {}

    @property
    def is_kept(self) -> bool:
        """Whether it was read from a kept file, and not from its folder."""
        return not self.episodes.one_by_one

    @property
    def name(self) -> str:
        """Of its folder or file, without the seed: what whoever made it calls the experiment."""
        stem = Path(self.source).name.removesuffix(".json")
        return stem.removesuffix(f"-s{self.seed}")


def of_folder(folder: Path) -> Run:
    config = _object(folder / "config.json")
    env, agent = (_field(config, name, str, folder / "config.json") for name in ("env", "agent"))
    seed, steps = (_field(config, name, int, folder / "config.json") for name in ("seed", "steps"))
    scores, metrics = _rows(folder / "scores.jsonl"), _rows(folder / "metrics.jsonl")
    last = max((int(row["step"]) for row in (scores[-1:] + metrics[-1:])), default=0)
    if last < 1:
        raise AmbsError(f"{folder} has not begun: there is no step in scores.jsonl or metrics.jsonl yet; let it train.")
    # The summary of a run that was resumed with more steps is from its first end.
    summary = _object(folder / "summary.json") if (folder / "summary.json").exists() else None
    if summary is not None and _field(summary, "steps", int, folder / "summary.json") < steps:
        summary = None
    _require_numbers(summary, folder / "summary.json")
    if summary is not None and summary.get("episodes") and not scores:
        raise AmbsError(
            f"{folder / 'scores.jsonl'} has no episode, and summary.json tells of {summary['episodes']}: it is "
            "damaged; leave the run out, or mend the file."
        )
    try:
        episodes = Episodes(
            np.array([row["step"] for row in scores], int),
            _returns([row["return"] for row in scores]),
            np.ones(len(scores), int),
            np.array([row["violations"] for row in scores], int),
            one_by_one=True,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise AmbsError(f"{folder / 'scores.jsonl'} is not what a run writes ({error!r}); leave it out.") from error
    names = sorted({name for row in metrics for name in row if name.startswith(SHIELD)})
    try:
        shield = {name: _series([(row["step"], row[name]) for row in metrics if name in row]) for name in names}
    except (TypeError, ValueError, OverflowError) as error:
        raise AmbsError(f"{folder / 'metrics.jsonl'} is not what a run writes ({error!r}); leave it out.") from error
    return Run(
        str(folder), env, agent, seed, steps, steps if summary is not None else min(last, steps), config,
        _command(folder, summary), summary, episodes, shield, _text(_in_bench(folder).get("agent")),
    )  # fmt: skip


def of_file(path: Path, kept: Mapping[str, Any]) -> Run:
    """`kept` is what is in the file."""
    summary, curve, config, shield = (kept.get(name) for name in ("summary", "curve", "config", "shield"))
    if not isinstance(summary, dict) or not isinstance(curve, dict):
        raise AmbsError(f"{path} is not a kept run: its summary and its curve have to be JSON objects.")
    env, agent = (_field(summary, name, str, path) for name in ("env", "agent"))
    seed, _ = (_field(summary, name, int, path) for name in ("seed", "steps"))
    _require_numbers(summary, path)
    try:
        parts = Episodes(
            np.array(curve["step"], int),
            _returns(curve["return"]),
            np.array(curve["episodes"], int),
            np.array(curve["violations"], int),
            one_by_one=False,
        )
        shielded = {} if not shield else {name: _series(list(zip(shield["step"], shield[name], strict=True)))
                                          for name in shield if name.startswith(SHIELD)}  # fmt: skip
        steps = int(parts.step[-1])
        if not len(parts.step) == len(parts.returns) == len(parts.count) == len(parts.violations):
            raise ValueError("its lists are of different lengths")
    except (KeyError, IndexError, TypeError, ValueError, OverflowError) as error:
        raise AmbsError(f"{path} is not a kept run: its curve cannot be read ({error!r}).") from error
    return Run(
        str(path), env, agent, seed, steps, steps, config if isinstance(config, dict) else None,
        _text(kept.get("command")), summary, parts, shielded, _text(kept.get("name")),
    )  # fmt: skip


def _command(folder: Path, summary: Mapping[str, Any] | None) -> str | None:
    """As the run itself has told it, or else the bench that it is part of; whatever is in those files, for it is no
    reason to have no report."""
    maker = None if summary is None else summary.get("made_by")
    found = maker.get("command") if isinstance(maker, Mapping) else None
    if found is None:
        # Of a run that another bench links to, the one that made it.
        found = _in_bench(folder.resolve()).get("command")
    return _text(found)


def _in_bench(folder: Path) -> Mapping[str, Any]:
    """What the bench that it is part of tells of the run; empty where there is none."""
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        runs = json.loads((folder.parent / "bench.json").read_text(encoding="utf-8"))["runs"]
        found = next((run for run in runs if run["name"] == folder.name), None)
        return found if isinstance(found, dict) else {}
    return {}


def _text(found: Any) -> str | None:
    return found if isinstance(found, str) else None


def _returns(found: Any) -> Float[np.ndarray, " ends"]:
    returns = np.array(found, float)
    if np.isinf(returns).any():
        raise ValueError("a return is infinite")
    return returns


def _series(rows: list[tuple[Any, Any]]) -> tuple[Float[np.ndarray, " rows"], Float[np.ndarray, " rows"]]:
    # Infinities are in files of others only, and can be drawn as little as what is not known.
    known = [
        (step, value) for step, value in rows if value is not None and math.isfinite(value) and math.isfinite(step)
    ]
    steps, values = (np.array([row[at] for row in known], float) for at in (0, 1))
    return steps, values


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise AmbsError(f"{path} cannot be read ({error}); leave the run out, or mend the file.") from error
    if not isinstance(found, dict):
        raise AmbsError(f"{path} is not a JSON object, as a run's is; leave the run out, or mend the file.")
    return found


def _rows(path: Path) -> list[dict[str, Any]]:
    """The rows that are whole: the last may be half written by a run that goes on, or was killed."""
    try:
        lines = path.read_bytes().splitlines() if path.exists() else []
        rows = []
        for number, line in enumerate(lines, 1):
            try:
                rows.append(json.loads(line))
            except ValueError:
                if number < len(lines):
                    raise AmbsError(
                        f"line {number} of {path} is no JSON; leave the run out, or mend the file."
                    ) from None
    except OSError as error:
        raise AmbsError(f"{path} cannot be read ({error.strerror}); leave the run out.") from error
    if any(not isinstance(row, dict) or not _is_int(row.get("step")) for row in rows):
        raise AmbsError(f"{path} is not what a run writes: each row has to have a step; leave the run out.")
    return rows


def _field(found: Mapping[str, Any], name: str, kind: type, path: Path) -> Any:
    value = found.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        said = "is missing" if value is None else f"is {value!r}"
        raise AmbsError(f'"{name}" {said} in {path}, which is no file of a training run, or damaged; leave it out.')
    return value


def _require_numbers(summary: Mapping[str, Any] | None, path: Path) -> None:
    """What a summary counts is a number, or null where no episode has ended."""
    for name in ("violations", "best_return", "final_return", "override_rate", "wall_seconds"):
        value = None if summary is None else summary.get(name)
        if value is not None and not (isinstance(value, int | float) and math.isfinite(value)):
            raise AmbsError(f'"{name}" is {value!r} in {path}, and has to be a number; leave it out, or mend the file.')


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)

"""The cells of a suite, a training run each: its command, its configuration, and what is on disk of it already."""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import functools
import io
import json
import shlex
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ambs.bench.smoke import smoked
from ambs.bench.suite import Entry, Options, Suite
from ambs.commands.chosen import chosen
from ambs.commands.train import Train
from ambs.errors import AmbsError
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.dreamer.trainee import DreamerTrainee
from ambs.runs.dreamer.training import saved_options
from ambs.runs.storage import MAY_CHANGE, compare, read_config
from ambs.runs.trainee import Settings
from ambs.runs.value.trainee import ValueTrainee


@dataclass(frozen=True)
class Cell:
    """One run of a suite."""

    game: str
    agent: str
    """Both as the suite calls them."""
    seed: int
    steps: int
    told: tuple[str, ...]
    """`ambs train` with all its options but seed and folder."""
    folder: Path

    @property
    def name(self) -> str:
        return f"{self.game}-{self.agent}-s{self.seed}"

    @property
    def arguments(self) -> list[str]:
        return [*self.told, "--seed", str(self.seed), "--run", str(self.folder)]

    @property
    def command(self) -> str:
        return shlex.join(["ambs", *self.arguments])

    @functools.cached_property
    def settings(self) -> Settings:
        """The run's configuration; an error, if `ambs train` would not take what it is told."""
        try:
            return dataclasses.replace(cast(Any, _settings(self.told)), seed=self.seed)
        except AmbsError as error:
            raise AmbsError(f"{self.game}, {self.agent}: {error}") from error

    def summary(self) -> dict[str, Any] | None:
        """Of the run, if it has all its steps; an error, if another run is in its place."""
        if not (self.folder / "config.json").exists():
            return None
        return self._summary_in(self.folder)

    def summary_in(self, folder: Path) -> dict[str, Any] | None:
        """Of a run in another folder, if it is this one, with all its steps and no more."""
        with contextlib.suppress(AmbsError):
            return self._summary_in(folder)
        return None

    def is_busy(self) -> bool:
        """Whether another process writes to its folder: one that has not ended yet when its bench was killed."""
        with contextlib.suppress(FileNotFoundError), (self.folder / "lock").open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def _summary_in(self, folder: Path) -> dict[str, Any] | None:
        summary = _read_summary(folder, self.steps)
        kind = DreamerTrainee if isinstance(self.settings, RunConfig) else ValueTrainee
        # Who goes on with a run may give it another learning rate; what has ended was learned with its own.
        self._require_same(folder, MAY_CHANGE if summary is not None else MAY_CHANGE | kind.may_change)
        return summary

    def _require_same(self, folder: Path, may_change: Collection[str]) -> None:
        saved = read_config(folder)
        # As it would be read again: tuples are lists there.
        now = json.loads(json.dumps(saved_options(self.settings)))
        for name, (was, is_now) in compare(saved, now).items():
            if name not in may_change:
                raise AmbsError(
                    f"{folder} is another run: there {name} is {json.dumps(was)}, and for this suite it is "
                    f"{json.dumps(is_now)}; choose another folder with --out."
                )
        if saved.get("steps", 0) > self.steps:
            raise AmbsError(
                f"{folder} is a run of {saved['steps']:,} steps, and this suite has {self.steps:,}; choose another "
                "folder with --out, or give --steps."
            )


def cells(suite: Suite, out: Path) -> list[Cell]:
    """All runs of the suite: first every game and agent with the first seed, so that a table is there early."""
    found = [
        Cell(game.name, agent.name, seed, *_told(suite, game, agent), out / f"{game.name}-{agent.name}-s{seed}")
        for seed in suite.seeds
        for game in suite.games
        for agent in suite.agents
    ]
    names = [cell.name for cell in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise AmbsError(f"two runs of the suite {suite.name} would be called {twice}; rename a game or an agent.")
    return found


def _told(suite: Suite, game: Entry, agent: Entry) -> tuple[int, tuple[str, ...]]:
    steps = agent.steps or game.steps or suite.steps
    options: Options = {**suite.options, **game.options, **agent.options}
    if suite.smoke:
        steps, options = smoked(agent.what, options)
    fixed = ["train", game.what, "--agent", agent.what, "--steps", str(steps)]
    return steps, (*fixed, *_as_arguments(options))


# Seeds differ in nothing else, and to read a command line takes a moment.
@functools.cache
def _settings(told: tuple[str, ...]) -> Settings:
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            command = chosen(told)
    except SystemExit as stop:
        # The parser's own message, without the box around it.
        words = [word for word in said.getvalue().split() if not set(word) <= set("─│╭╮╰╯")]
        raise AmbsError(" ".join(words)) from stop
    assert isinstance(command, Train)
    return command.settings()


def _as_arguments(options: Options) -> Iterator[str]:
    """Options as a command line has them; `option`, which may be given several times, once for each."""
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        if isinstance(value, bool):
            yield f"--{name}" if value else f"--no-{name}"
        elif name == "option":
            for one in values:
                yield from (f"--{name}", str(one))
        else:
            yield from (f"--{name}", *map(str, values))


def _read_summary(folder: Path, steps: int) -> dict[str, Any] | None:
    try:
        summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
        return summary if summary["steps"] >= steps else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise AmbsError(f"{folder / 'summary.json'} cannot be read ({error}); remove it, and run again.") from error

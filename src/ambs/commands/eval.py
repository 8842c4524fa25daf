"""`ambs eval`: how well and how safely a trained agent does, in episodes that it did not learn from."""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.errors import AmbsError, positive_integer
from ambs.files import write_text

if TYPE_CHECKING:
    from ambs.runs.evaluate.loading import LoadedAgent


@dataclass(frozen=True)
class Eval:
    """Evaluate a run of any agent but tabular, from its last good checkpoint; also while it trains.

    Reports returns and violations with 95 % intervals, and leaves them in the run's folder `evaluations`.
    """

    run_dir: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(name="run", metavar="RUN")]
    """The folder of the run."""

    episodes: int = 10
    """How many episodes to play."""

    envs: int = 8
    """Environments side by side, which share the episodes evenly."""

    seed: int = 1000
    """The seed of the environments and of the actions; not the one that the run was trained with."""

    deterministic: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """The likeliest action rather than one drawn as in training."""

    without_shield: Annotated[bool, tyro.conf.FlagCreatePairsOff] = False
    """The task policy alone, of an agent that was trained with a shield."""

    shield: str | None = None
    """The shield to play with instead of that of the training: prescience (searches the environment itself for a safe
    path, where it can be saved and restored), classical (exact, in conveyor worlds), none, or for a run of ambs also a
    criterion: sound, rollout, paper, latent, recover or either."""

    depth: int | None = None
    """Steps of the paths that prescience searches; 5 if not given, here or in training."""

    dice: str | None = None
    """What prescience knows of chance: same (what the environment will draw, too) or own (dice of its own); same if not
    given, here or in training."""

    tolerance: float | None = None
    """Delta of the classical shield, how likely a violation may be; 0.1 if not given, here or in training."""

    look_ahead: int | None = None
    """T of the classical shield; 30 if not given, here or in training."""

    video: Annotated[tuple[Path, ...] | None, tyro.conf.arg(metavar="[FILE.mp4]")] = None
    """Film the first episodes; in the run's folder `evaluations` if no file is given."""

    video_episodes: int = 1
    """How many episodes to film."""

    out: Path | None = None
    """The JSON file to write; RUN/evaluations/STEP-SEED.json if not given, with the shield's name if that is."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the result as one JSON object, the one that is written."""

    def run(self) -> None:
        # Slow to import, and the other commands do without.
        from ambs.runs.devices import keep_compiled
        from ambs.runs.evaluate import evaluate

        episodes = positive_integer("episodes", self.episodes)
        positive_integer("video-episodes", self.video_episodes)
        keep_compiled()
        agent = self._agent()
        name = f"{agent.step}-{self.seed}{self._how()}"
        out = self.out or self.run_dir / "evaluations" / f"{name}.json"
        video = _video(self.video, out.with_suffix(".mp4"))
        for path in (out,) if video is None else (out, video):
            _require_writable(path)
        if video is not None:
            from ambs.runs.evaluate.film import film, require_filmable

            require_filmable(agent, video)
        with _bar() as bar:
            task = bar.add_task("episodes", total=episodes)
            evaluation = evaluate(
                agent, episodes=episodes, envs=self.envs, seed=self.seed, deterministic=self.deterministic,
                progress=lambda played: bar.advance(task),
            )  # fmt: skip
        answer = evaluation.as_json()
        for path in (out, video or out):
            path.parent.mkdir(parents=True, exist_ok=True)
        if video is not None:
            film(evaluation, video, self.video_episodes)
        write_text(out, json.dumps(answer, indent=2) + "\n")
        if self.json:
            print_json(answer)
        else:
            _show(answer, [out] if video is None else [out, video])

    def _agent(self) -> LoadedAgent:
        """The run's agent, with the shield that is asked for."""
        from ambs.runs.evaluate import load

        if self.without_shield and self.shield not in (None, "none"):
            raise AmbsError(f"--shield {self.shield} and --without-shield contradict each other; leave one out.")
        agent = load(self.run_dir, shield="none" if self.without_shield else self.shield or True)
        if self.without_shield and agent.config.shield is None and agent.config.guard is None:
            raise AmbsError(f"{self.run_dir} was trained without a shield; leave --without-shield out.")
        guard = agent.chosen.guard
        numbers: dict[str, Any] = {}
        for option, field, owner, value in (
            ("depth", "depth", "prescience", self.depth),
            ("dice", "dice", "prescience", self.dice),
            ("tolerance", "Delta", "classical", self.tolerance),
            ("look-ahead", "look_ahead", "classical", self.look_ahead),
        ):
            if value is not None:
                if guard is None or guard.name != owner:
                    raise AmbsError(f"--{option} is for the shield {owner}; add --shield {owner}, or leave it out.")
                numbers[field] = value
        return agent.again(0, shield=replace(guard, **numbers)) if guard is not None and numbers else agent

    def _how(self) -> str:
        """What is in the name of a file: all that makes it another evaluation of the same step and seed."""
        shield = "without-shield" if self.without_shield or self.shield == "none" else self.shield
        numbers = {"depth": self.depth, "dice": self.dice, "tolerance": self.tolerance, "look-ahead": self.look_ahead}
        parts = ["deterministic" if self.deterministic else None, shield]
        parts += [None if value is None else f"{name}-{value}" for name, value in numbers.items()]
        return "".join(f"-{part}" for part in parts if part is not None)


def _video(given: tuple[Path, ...] | None, usual: Path) -> Path | None:
    if given is None:
        return None
    if len(given) > 1:
        raise AmbsError(f"--video has {len(given)} files, and makes one; give the run before the options.")
    return given[0] if given else usual


def _require_writable(path: Path) -> None:
    """What cannot be written is said before hours of play; the command line makes a sentence of an `OSError`."""
    if path.is_dir():
        raise AmbsError(f"{path} is a folder, and has to be a file to write.")
    there = next(parent for parent in path.absolute().parents if parent.exists())
    with tempfile.TemporaryFile(dir=there):
        pass


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=console(stderr=True), disable=not sys.stderr.isatty())


def _show(answer: dict[str, Any], wrote: list[Path]) -> None:
    out = console()
    how = "deterministic" if answer["deterministic"] else "sampled"
    out.print(
        f"{answer['env']}, agent after {answer['step']:,} steps, {answer['episodes']:,} episodes of seed "
        f"{answer['seed']}, {how}",
        markup=False,
    )
    table = Table("", "mean", "95 % interval")
    for key, words in (("return", "return"), ("length", "length"), ("violations_per_episode", "violations")):
        table.add_row(words, f"{answer[key]['mean']:.4g}", _interval(answer[key]))
    share = answer["episodes_without_violation"]
    table.add_row("episodes without violation", f"{share['share']:.0%}", _interval(share, ".0%"))
    out.print(table)
    rate = answer["violations_per_1000_steps"]
    out.print(f"{answer['violations']:,} violations in {answer['steps']:,} steps: {rate:.4g} in 1,000")
    if "override_rate" in answer:
        out.print(f"The shield {answer['shield']} took over in {answer['override_rate']:.1%} of them.")
    if "estimate" in answer:
        out.print(f"Its estimate was {answer['estimate']:.3f} on average.")
    if "traces" in answer:
        out.print(f"A decision took {answer['traces']:.3g} traces on average.")
    if "milliseconds_per_decision" in answer:
        steps, milliseconds = answer["simulator_steps_per_decision"], answer["milliseconds_per_decision"]
        out.print(f"A decision took {steps:.3g} steps of the environment and {milliseconds:.3g} milliseconds.")
    for path in wrote:
        out.print(f"wrote  {path}", markup=False)


def _interval(numbers: dict[str, Any], style: str = ".4g") -> str:
    if numbers["low"] is None:
        return "–"
    return f"{numbers['low']:{style}} to {numbers['high']:{style}}"

"""`ambs watch`: a video of an environment with its labels, verdict and cost beside the frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from ambs.commands.output import console, print_json
from ambs.errors import AmbsError, positive_integer


@dataclass(frozen=True)
class Watch:
    """Film an environment, its labels, formula verdict and cost drawn beside the frame.

    Writes a video, and a contact sheet (PNG) of the moments at which each atom becomes true: for a person to judge
    whether a label is right.
    """

    env: tyro.conf.Positional[str]
    """The environment, by a name that `ambs envs` lists."""

    policy: Literal["random", "scripted"] = "random"
    """Who acts: chance, or a script that provokes the labels."""

    video: Path | None = None
    """The video to write, .mp4; runs/watch/ENV.mp4 if not given."""

    sheet: Path | None = None
    """The contact sheet to write, .png; beside the video if not given."""

    steps: int = 1000
    """How many steps to film."""

    seed: int = 0
    """The seed of the environment and of the random policy."""

    formula: str | None = None
    """Ψ, over the environment's atoms; its default formula if not given."""

    fps: int | None = None
    """Steps shown a second; the environment's own pace if not given."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print what was seen as one JSON object."""

    def run(self) -> None:
        # Drawing is slow to import, and the other commands do without.
        from ambs.envs.catalogue import find
        from ambs.runs.watch import watch

        positive_integer("steps", self.steps)
        if self.fps is not None:
            positive_integer("fps", self.fps)
        if self.seed < 0:
            raise AmbsError(f"the seed is {self.seed}, and has to be at least 0.")
        spec = find(self.env)
        video = _with_suffix("--video", self.video or Path("runs/watch") / f"{spec.name}.mp4", ".mp4")
        sheet = _with_suffix("--sheet", self.sheet or video.with_suffix(".png"), ".png")
        seen = watch(
            spec, self.policy, video, sheet, steps=self.steps, seed=self.seed, formula=self.formula, fps=self.fps
        )
        if self.json:
            print_json({**seen, "video": str(video), "sheet": str(sheet)})
        else:
            _show(seen, video, sheet)


def _with_suffix(option: str, path: Path, suffix: str) -> Path:
    if path.suffix.lower() != suffix:
        raise AmbsError(f"{option} is {path}, and has to end in {suffix}.")
    return path


def _show(seen: dict[str, Any], video: Path, sheet: Path) -> None:
    out = console()
    counted = (("steps", "step"), ("episodes", "episode"), ("violations", "violation"))
    out.print(", ".join(_count(seen[many], one, many) for many, one in counted) + " of")
    out.print(f"  {seen['formula']}", markup=False)
    for atom, count in seen["fired"].items():
        said = f"became true {_count(count, 'time', 'times')}" if count else "never became true"
        out.print(f"  {atom}: {said}", markup=False)
    for path in (video, sheet):
        out.print(f"wrote  {path}", markup=False)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"

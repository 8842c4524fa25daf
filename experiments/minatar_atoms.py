"""Draws, for every atom of the MinAtar games, a step that makes it true and one that nearly does.

    python -m experiments.minatar_atoms [--out docs/images/minatar]

The steps are those of `experiments.minatar_situations`, which the tests play too.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib import pyplot as plt

from ambs.envs.minatar.specs import SPECS
from ambs.files import replacing
from experiments.minatar_situations import SITUATIONS, Situation

OUT = Path(__file__).parent.parent / "docs" / "images" / "minatar"
_ACTIONS = {"n": "nothing", "l": "left", "u": "up", "r": "right", "d": "down", "f": "fire"}


def pair(situation: Situation, axes: Any) -> None:
    """The frame before the step and the one after it, with what is true then."""
    env = situation.prepare()
    axes[0].imshow(env.render())
    axes[0].set_title(f"{situation.what}\naction: {_ACTIONS[situation.action]}", fontsize=8, loc="left")
    info, over = situation.play(env)
    axes[1].imshow(env.render())
    true = ", ".join(name for name, value in info["labels"].items() if value) or "no atom"
    verdict = ("cost 0" if info["cost"] == 0 else f"cost {info['cost']:g}") + (", the game ends" if over else "")
    axes[1].set_title(f"{true}\n{verdict}", fontsize=8, loc="left", color="#b01030" if info["cost"] else "#104020")


def sheet(game: str, path: Path) -> None:
    """One row an atom: it fires on the left, and nearly does on the right."""
    atoms = next(spec.atoms for spec in SPECS if spec.kwargs["game"] == game)
    figure, rows = plt.subplots(len(atoms), 4, figsize=(9.6, 2.75 * len(atoms)), squeeze=False, layout="constrained")
    for atom, row in zip(atoms, rows, strict=True):
        fires, nearly = [each for each in SITUATIONS if (each.game, each.about) == (game, atom)][:2]
        pair(fires, row[:2])
        pair(nearly, row[2:])
        for axes in row:
            axes.set(xticks=[], yticks=[])
        row[0].set_ylabel(atom, fontsize=10, fontweight="bold")
    with replacing(path) as partial:
        figure.savefig(partial, format="png", dpi=100, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    out = parser.parse_args().out
    matplotlib.use("agg")
    out.mkdir(parents=True, exist_ok=True)
    for spec in SPECS:
        path = out / f"{spec.kwargs['game']}.png"
        sheet(spec.kwargs["game"], path)
        print(path)


if __name__ == "__main__":
    main()

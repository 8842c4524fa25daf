"""`ambs train`: until there is an agent to train, the worked example that it will be built on."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.errors import AmbsError
from ambs.files import write_text


@dataclass(frozen=True)
class Train:
    """Run the default example and leave its figure and numbers in a folder.

    There is no learning in this version yet: the example is a small labelled chain, checked exactly and from
    sampled traces, with the shield's decision in every state.
    """

    run_dir: Annotated[Path, tyro.conf.arg(name="run")] = Path("runs/worked-example")
    """The folder to write to."""

    seed: int = 0
    """The seed of the sampled traces."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print the result as one JSON object."""

    def run(self) -> None:
        # Drawing is slow to import, and the other commands do without.
        from ambs.runs.worked_example import FORMULA, worked_example
        from ambs.runs.worked_figure import draw

        if self.seed < 0:
            raise AmbsError(f"the seed is {self.seed}, and has to be at least 0.")
        self.run_dir.mkdir(parents=True, exist_ok=True)
        rows = worked_example(self.seed)
        figure, numbers = self.run_dir / "shield.png", self.run_dir / "summary.json"
        draw(rows, figure)
        summary = {
            "formula": FORMULA,
            "seed": self.seed,
            "figure": str(figure),
            "states": [dataclasses.asdict(row) for row in rows],
        }
        write_text(numbers, json.dumps(summary, indent=2) + "\n")
        if self.json:
            print_json(summary)
            return
        out = console()
        out.print(f"May the task policy act?   {FORMULA}", markup=False)
        table = Table("state", "exact μ", "μ >= 0.9", "sampled", "traces", "ladder A", "paper, 512 traces")
        for row in rows:
            table.add_row(
                row.state,
                f"{row.exact:.4f}",
                "yes" if row.satisfied else "no",
                f"{row.estimate:.4f}",
                str(row.traces),
                _decision(row.accepted),
                _decision(row.accepted_fixed),
            )
        out.print(table)
        used, fixed = sum(row.traces for row in rows), sum(row.traces_fixed for row in rows)
        out.print(f"ladder A decided on {used} traces, the paper's rule on {fixed} ({fixed / used:.1f} times as many)")
        out.print(f"figure   {figure}", markup=False)
        out.print(f"numbers  {numbers}", markup=False)


def _decision(accepted: bool) -> str:
    return "[green]task policy[/green]" if accepted else "[red]backup[/red]"

"""What is said when a run is over: a table of what came of it, and where its picture, report and numbers are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ambs.commands.output import console, print_json, short
from ambs.commands.typed import command_line

if TYPE_CHECKING:
    from ambs.runs.curves import Curves

# Of all actions: a shield that takes over more of them than these has not been of use.
_MOSTLY = 0.9
_ROWS = (
    ("episodes", "episodes"),
    ("late_return", "return, mean of the last tenth of the steps"),
    ("final_return", "return, mean of the last 100 episodes"),
    ("best_return", "best return"),
    ("violations", "violations"),
    ("violations_per_1000_steps", "violations in 1,000 steps"),
    ("override_rate", "share of actions overridden"),
    ("wall_seconds", "seconds"),
)


def report(summary: dict[str, Any], folder: Path, *, quiet: bool) -> None:
    """Draws the run; and says how it went, or prints the summary as JSON."""
    # Slow to import, and other commands do without.
    from ambs.report import write
    from ambs.runs.curves import Curves
    from ambs.runs.figure import draw
    from ambs.runs.twin import Twin

    steps, picture = summary["steps"], folder / "training.png"
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    twin = Twin.kept()
    compared = summary["agent"] == "ambs" and twin.is_of(config, steps)
    mine = "with the shield" if compared else summary["agent"]
    runs = {mine: Curves.of(folder, steps)}
    if compared:
        runs["without (a kept run)"] = twin.curves.until(steps)
    title = f"{summary['env']}, {summary['agent']}, seed {summary['seed']}"
    draw(runs, title, picture)
    page = folder / "report.html"
    write(folder, page, command=command_line() or "ambs train")
    if quiet:
        print_json(summary)
        return
    out = console()
    size = f"{summary['size']}, " if "size" in summary else ""
    size += f"shield {summary['shield']}, " if "shield" in summary else ""
    out.print(f"{summary['env']}, {summary['agent']}, {size}{steps:,} steps, seed {summary['seed']}", markup=False)
    other = twin.row(steps) | _late(runs["without (a kept run)"]) if compared else {}
    told = summary | _late(runs[mine])
    table = Table("", *([mine, f"without, seed {twin.config['seed']}"] if compared else [""]))
    for key, words in _ROWS:
        if key in told:
            beside = [short(other[key]) if key in other else ""] if compared else []
            table.add_row(words, short(told[key]), *beside)
    out.print(table)
    if told.get("override_rate", 0.0) > _MOSTLY:
        out.print(
            "the shield took over nearly everywhere, so its backup policy has played and not the task policy: by its "
            "model hardly anything is safe enough yet; train for longer, or see --pretrain, --shield-after, --tolerance"
        )
    if compared:
        out.print("without: a run of the same agent without the shield that was kept, so that you need not wait for it")
    out.print(f"figure   {picture}", markup=False)
    out.print(f"report   {page}", markup=False)
    out.print(
        f"numbers  {folder / 'summary.json'}, {folder / 'metrics.jsonl'}, {folder / 'scores.jsonl'}", markup=False
    )


def _late(curves: Curves) -> dict[str, float]:
    mean = curves.last_tenth()
    return {} if mean is None else {"late_return": mean}

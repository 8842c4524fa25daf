"""`ambs verify`: the experiments that the paper names as future work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.errors import AmbsError


@dataclass(frozen=True)
class Verify:
    """Try the theorems, printed and corrected, against exact probabilities, and the shield's estimate too.

    Writes tables (verify.json, verify.md) and figures (PNG) to a folder. A few minutes; --quick takes seconds.
    """

    out: Path = Path("runs/verify")
    """The folder to write to."""

    seed: int = 0
    """The seed of everything that is drawn at random."""

    repeats: int | None = None
    """How often each estimate is drawn anew; 2000 if not given, 100 with --quick."""

    quick: bool = False
    """Fewer chains, maps and decisions: to see that it works, not for the numbers."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print everything as one JSON object."""

    def run(self) -> None:
        # Drawing and JAX are slow to import, and the other commands do without.
        from ambs.verify import Settings, figures, report, verify

        repeats = (100 if self.quick else 2000) if self.repeats is None else self.repeats
        settings = Settings(seed=self.seed, repeats=repeats, quick=self.quick)
        if self.out.exists() and not self.out.is_dir():
            raise AmbsError(f"{self.out} is a file, and --out has to be a folder; name another.")
        self.out.mkdir(parents=True, exist_ok=True)
        tables = verify(settings)
        written = [*report.write(settings, tables, self.out), *figures.draw(tables, self.out)]
        if self.json:
            print_json(report.summary(settings, tables))
            return
        out = console()
        table = Table("what", "finding", title=settings.command)
        for what, finding in report.headlines(tables):
            table.add_row(what, finding)
        out.print(table)
        for path in written:
            out.print(f"wrote  {path}", markup=False)

"""`ambs tests`: the operating characteristics of the statistical tests, exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import tyro
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.errors import AmbsError
from ambs.shield import Betting, Fixed, Ladder, StatTest


@dataclass(frozen=True)
class Tests:
    """Print how often each test of "μ >= 1-Δ" accepts and how many traces it draws, for any true μ.

    Exact, by dynamic programming. Without options: the paper's rule beside the ladder levels A, B, C and a sharp one.
    """

    p0: float | None = None
    """Design the tests for this violation probability instead of showing the levels."""

    delta: float | None = None
    """δ: the probability of accepting at a violation probability of p0 or more; 0.01 if not given."""

    mu: tuple[float, ...] = (1.0, 0.999, 0.995, 0.99, 0.98, 0.95, 0.9, 0.8, 0.5)
    """The true probabilities of satisfying the formula to show."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print a JSON list, one object a test."""

    def run(self) -> None:
        if self.p0 is None and self.delta is not None:
            raise AmbsError("--delta goes with --p0: the levels A, B and C have a delta of 0.01.")
        if not self.mu:
            raise AmbsError("--mu needs at least one probability.")
        rows = [self._row(name, test) for name, test in self._tests().items()]
        if self.json:
            print_json(rows)
            return
        out = console()
        for what, key in (
            ("P(accept)", "accept_probability"),
            ("traces drawn on average", "expected_samples"),
        ):
            table = Table("true μ", *(row["test"] for row in rows), title=what)
            for index, mu in enumerate(self.mu):
                table.add_row(f"{mu:g}", *(f"{row[key][index]:.4g}" for row in rows))
            out.print(table)

    @property
    def _delta(self) -> float:
        return 0.01 if self.delta is None else self.delta

    def _tests(self) -> dict[str, StatTest]:
        if self.p0 is None:
            levels = {f"ladder, level {level}": Ladder.level(level) for level in "ABC"}
            levels["ladder, sharp"] = Ladder.sharp(0.1, 0.01)
            return {"paper, 5 of 512": Fixed(), "the same, curtailed in 32s": Fixed(batch=32), **levels}
        # Looks in batches, as they would be drawn; one by one there may be tens of thousands of them.
        most = Fixed.smallest(self.p0, self._delta, 20).samples
        batch = max(1, most // 128)
        return {
            "fixed, no violation": Fixed.smallest(self.p0, self._delta),
            "fixed, up to 3": Fixed.smallest(self.p0, self._delta, 3),
            "ladder": Ladder.design(self.p0, self._delta),
            "ladder, sharp": Ladder.sharp(self.p0, self._delta),
            f"betting, looks every {batch}": Betting(self.p0, self._delta, batch=batch),
        }

    def _row(self, name: str, test: StatTest) -> dict[str, Any]:
        mu = np.array(self.mu)
        looks = test.looks
        few = 1 < len(looks.samples) <= 8
        return {
            "test": name + (f" ({'-'.join(map(str, looks.samples))})" if few else ""),
            "samples": looks.samples if few else [looks.samples[-1]],
            "accept": looks.accept if few else None,
            "reject": looks.reject if few else None,
            "mu": list(self.mu),
            "accept_probability": test.accept_probability(mu).tolist(),
            "expected_samples": test.expected_samples(mu).tolist(),
            "certified_rate": test.certified_rate(self._delta),
        }

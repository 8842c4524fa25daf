"""How far the intervals of `ambs report` may be believed: normal scores, of which the truth is known.

For a few numbers of seeds: how often the 95 % interval of the interquartile mean has the true one in it, and how often
one of two agents that are the same is put in bold because their intervals do not overlap.

    python -m experiments.interval_coverage
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from ambs.files import write_text
from ambs.report.statistics import estimate

OUT = Path(__file__).parent.parent / "results" / "interval_coverage.md"


def rates(seeds: int, pairs: int) -> tuple[float, float]:
    """Share of intervals with the truth, 0, in them; and share of pairs of equal agents that are told apart."""
    rng = np.random.default_rng(seeds)
    found = [estimate([rng.normal(size=seeds)], draws=1000, seed=number) for number in range(2 * pairs)]
    covered = np.mean([each.low is not None and each.high is not None and each.low <= 0 <= each.high for each in found])
    apart = np.mean([one.apart(other) for one, other in zip(found[::2], found[1::2], strict=True)])
    return float(covered), float(apart)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=4000)
    pairs = parser.parse_args().pairs
    lines = [
        "| seeds | the interval has the truth in it | one of two equal agents in bold |",
        "|---|---|---|",
    ]
    for seeds in (3, 4, 5, 10, 20):
        covered, apart = rates(seeds, pairs)
        lines.append(f"| {seeds} | {covered:.1%} | {apart:.1%} |")
    text = "\n".join(lines) + "\n"
    write_text(OUT, text)
    print(text)


if __name__ == "__main__":
    main()

"""The tables as JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ambs
from ambs.files import write_text
from ambs.verify.settings import DELTA, EPSILON, Row, Settings, Tables

Column = tuple[str, Callable[[Row], str]]


def small(value: float) -> str:
    """A probability or an error: four decimals, or a power of ten where these would hide it."""
    return "0" if value == 0 else f"{value:.4f}" if abs(value) >= 1e-3 else f"{value:.1e}"


def _field(key: str, shown: Callable[[Any], str] = str) -> Callable[[Row], str]:
    return lambda row: shown(row[key])


def _interval(rate: str = "rate", low: str = "low", high: str = "high") -> Callable[[Row], str]:
    return lambda row: f"{small(row[rate])} [{small(row[low])}, {small(row[high])}]"


def _computed(value: float | None) -> str:
    """An exact mean, whose rounding errors are not shown; or that there is none."""
    return "–" if value is None else small(0.0 if abs(value) < 1e-12 else value)


def _verdict(row: Row) -> str:
    return "holds" if row["holds"] else "**fails**"


_CLAIM = f"claimed: at most {DELTA:g}"
SECTIONS: dict[str, tuple[str, str, tuple[Column, ...]]] = {
    "theorem_1": (
        "Theorem 1: traces of the true chain",
        f"How often the estimate misses the true μ by more than ε = {EPSILON:g} ({_CLAIM}). Exact: the worst of all "
        "safe starts. Simulated: from the start whose μ is closest to 1/2, with 95% Clopper-Pearson interval.",
        (
            ("chain", _field("case")),
            ("n", _field("horizon")),
            ("sides", _field("sides")),
            ("m", _field("traces")),
            ("starts", _field("starts")),
            ("μ", lambda row: f"{row['least_mu']:.3f} to {row['greatest_mu']:.3f}"),
            ("worst failure, exact", _field("worst_failure", small)),
            ("simulated", _interval()),
            ("claim", _verdict),
        ),
    ),
    "theorem_2": (
        "Theorem 2: traces of a learned chain",
        f"As printed, α = ε/n, and corrected, α = ε/(2n), with the same m ({_CLAIM}). The bound on the model's "
        "error is αn/2 as printed and 1-(1-α)^n corrected. Simulated from the worst start of each chain. 'Pushed': "
        "T̂ = (1-α)T + α·unsafe.",
        (
            ("chains", _field("case")),
            ("n", _field("horizon")),
            ("version", _field("version")),
            ("m", _field("traces")),
            ("starts", _field("starts")),
            ("greatest error", _field("greatest_error", small)),
            ("its bound", _field("error_bound", small)),
            ("over it", _field("over_bound")),
            ("worst failure, exact", _field("worst_failure", small)),
            ("simulated", _interval()),
            ("starts failing", _field("starts_failing")),
            ("claim", _verdict),
        ),
    ),
    "theorem_2_traces": (
        "Theorem 2 as printed, with more traces than it asks for",
        "Exact failure probability on the counterexample. For n = 1 the estimate is centred at distance ε, and no "
        "number of traces helps; for larger n very many do.",
        (
            ("m", _field("traces", "{:,}".format)),
            ("n = 1", _field("n1", small)),
            ("n = 5", _field("n5", small)),
            ("n = 30", _field("n30", small)),
        ),
    ),
    "theorem_3": (
        "Theorem 3: visits to one state",
        "How often some action's counted row is further than α = 0.05 from the truth (claimed: at most 0.05), with "
        "four actions. Sufficient: the fewest visits that do in simulation, to about 3%. Loose: how many times that "
        "the bound asks for.",
        (
            ("S", _field("states")),
            ("K", _field("successors")),
            ("law", _field("law")),
            ("bound", _field("bound")),
            ("visits", _field("visits", "{:,}".format)),
            ("sufficient", _field("sufficient", "{:,}".format)),
            ("loose", _field("loose", "{:,.1f}×".format)),
            ("failures", _interval()),
            ("claim", _verdict),
        ),
    ),
    "learned": (
        "Model error of models counted from visits",
        "States whose |μ - μ̂| is above each bound at the realised α, the greatest error as a share of each bound, and "
        "states whose true μ is below the certified `robust_bounded_globally` at the realised distances. The share of "
        "chains with a state above αn/2 has the interval, because the states of one chain are not independent.",
        (
            ("family", _field("family")),
            ("S", _field("states")),
            ("visits", _field("visits")),
            ("n", _field("horizon")),
            ("starts", _field("starts")),
            ("above 1-(1-α)^n", _field("over_corrected")),
            ("above αn/2", _field("over_printed")),
            ("chains above αn/2", _interval("printed_rate", "printed_low", "printed_high")),
            ("of 1-(1-α)^n", _field("of_corrected", "{:.3f}".format)),
            ("of αn/2", _field("of_printed", "{:.3f}".format)),
            ("below certified", _field("below_certified")),
        ),
    ),
    "calibration": (
        "Calibration of the shield's estimate",
        "`LookaheadShield` on the conveyor maps, four policies, every state and action, n = 30, against the exact μ of "
        "the true dynamics. The intervals are meant to cover it with probability 0.95; accepting where μ < 0.9 is "
        "to have probability at most 0.01. A counted model is drawn anew for each sweep over all states and "
        "actions; the decisions of a sweep share it, so for counted models the last interval is too narrow.",
        (
            ("shield", _field("shield")),
            ("decisions", _field("decisions", "{:,}".format)),
            ("traces", _field("mean_traces", "{:.1f}".format)),
            ("mean error", _interval("mean_error", "mean_error_low", "mean_error_high")),
            ("mean absolute error", _field("mean_absolute_error", small)),
            ("interval covers μ", _interval("covered", "covered_low", "covered_high")),
            (
                "accepted where μ < 0.9",
                _interval("accepted_unsafe_rate", "accepted_unsafe_low", "accepted_unsafe_high"),
            ),
        ),
    ),
    "calibration_bins": (
        "Calibration by exact μ",
        "The mean error is estimate minus exact μ, with 95% interval; the spread is its standard deviation. Expected: "
        "what the test's early stopping does to the mean, computed exactly, when the model is the true one.",
        (
            ("shield", _field("shield")),
            ("exact μ", lambda row: f"{row['from']:g} to {row['to']:g}"),
            ("decisions", _field("decisions", "{:,}".format)),
            ("mean μ", _field("mean_exact", "{:.4f}".format)),
            ("mean estimate", _field("mean_estimate", "{:.4f}".format)),
            ("mean error", _interval("mean_error")),
            ("expected", _field("expected_error", _computed)),
            ("spread", _field("spread", small)),
            ("accepted", _field("accepted", "{:.3f}".format)),
        ),
    ),
}


def summary(settings: Settings, tables: Tables) -> Row:
    """All that was found, as plain values."""
    return {
        "command": settings.command,
        "version": ambs.__version__,
        "seed": settings.seed,
        "repeats": settings.repeats,
        "quick": settings.quick,
        "epsilon": EPSILON,
        "delta": DELTA,
        **tables,
    }


def headlines(tables: Tables) -> list[tuple[str, str]]:
    """Each experiment in one line."""
    first, second, third, models = (tables[name] for name in ("theorem_1", "theorem_2", "theorem_3", "learned"))
    versions = {name: [row for row in second if row["version"] == name] for name in ("printed", "corrected")}
    lines = [
        ("Theorem 1", _worst(first)),
        *((f"Theorem 2, {name}", _worst(mine)) for name, mine in versions.items()),
    ]
    for bound in dict.fromkeys(row["bound"] for row in third):
        mine = [row for row in third if row["bound"] == bound]
        loose = [row["loose"] for row in mine]
        failed, trials = (sum(row[key] for row in mine) for key in ("failures", "trials"))
        lines.append(
            (
                bound,
                f"{failed} failures in {trials:,}; {min(loose):,.1f} to {max(loose):,.0f} times the visits it takes",
            )
        )
    starts = sum(row["starts"] for row in models)
    for title, key in (("above 1-(1-α)^n", "over_corrected"), ("above αn/2", "over_printed")):
        lines.append((f"model error {title}", f"{sum(row[key] for row in models):,} of {starts:,} states"))
    certified = sum(row["below_certified"] for row in models)
    lines.append(("true μ below the certified one", f"{certified:,} of {starts:,} states"))
    for row in tables["calibration"]:
        finding = f"mean error {small(row['mean_error'])}, {row['covered']:.1%} of the intervals cover the exact μ"
        lines.append((f"estimate, {row['shield']}", finding))
    return lines


def _worst(rows: list[Row]) -> str:
    worst = max(rows, key=lambda row: row["worst_failure"])
    verdict = "holds" if worst["holds"] else "fails"
    return f"{verdict}: failure probability up to {small(worst['worst_failure'])}, claimed at most {worst['claimed']:g}"


def markdown(settings: Settings, tables: Tables) -> str:
    parts = [
        "# Verification of the theorems\n",
        f"`{settings.command}` (ambs {ambs.__version__}): seed {settings.seed}, every simulation repeated "
        f"{settings.repeats:,} times a chain, intervals at 95%.\n",
    ]
    for name, (title, text, columns) in SECTIONS.items():
        parts.append(f"## {title}\n\n{text}\n\n{_table(columns, tables[name])}")
    return "\n".join(parts)


def _table(columns: tuple[Column, ...], rows: list[Row]) -> str:
    lines = [[title for title, _ in columns], ["---"] * len(columns)]
    lines += [[show(row) for _, show in columns] for row in rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def write(settings: Settings, tables: Tables, folder: Path) -> list[Path]:
    """`verify.json` and `verify.md`, whole or not at all."""
    contents = {
        "verify.json": json.dumps(summary(settings, tables), indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "verify.md": markdown(settings, tables),
    }
    for name, text in contents.items():
        write_text(folder / name, text)
    return [folder / name for name in contents]

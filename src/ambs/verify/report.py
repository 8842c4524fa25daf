"""The tables as JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
from pathlib import Path

import ambs
from ambs.files import write_text
from ambs.verify.sections import SECTIONS, Column, small
from ambs.verify.settings import DELTA, EPSILON, Row, Settings, Tables


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
    shield = tables["theorem_2_shield"]
    first, second, third, models = (tables[name] for name in ("theorem_1", "theorem_2", "theorem_3", "learned"))
    versions = {name: [row for row in second if row["version"] == name] for name in ("printed", "corrected")}
    lines = [
        ("Theorem 1", _worst(first)),
        *((f"Theorem 2, {name}", _worst(mine)) for name, mine in versions.items()),
        *(
            (f"shield believing Theorem 2, {name}", _worst([row for row in shield if row["version"] == name]))
            for name in versions
        ),
        ("a step of Theorem 2's proof", _step(tables["theorem_2_marginals"])),
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
    lines += _shares(tables["theorem_3_models"], "bound", "{}, whole models")
    lines += _shares(tables["theorem_3_negligible"], "condition", "Theorem 3, negligible actions, {}")
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


def _step(rows: list[Row]) -> str:
    worst = max(rows, key=lambda row: row["error"] - row["marginal_tv"])
    verdict = "holds" if all(row["holds"] for row in rows) else "fails"
    return f"{verdict}: marginals {small(worst['marginal_tv'])} apart, and μ {small(worst['error'])}"


def _shares(rows: list[Row], key: str, title: str) -> list[tuple[str, str]]:
    """How many experiences failed, by bound or condition, and on the worst of its models; only what is claimed."""
    lines = []
    for name in dict.fromkeys(row[key] for row in rows if row["claimed"] is not None):
        mine = [row for row in rows if row[key] == name]
        verdict = "holds" if all(row["holds"] for row in mine) else "fails"
        worst = max(row["rate"] for row in mine)
        lines.append(
            (title.format(name), f"{verdict}: failures up to {small(worst)}, claimed at most {mine[0]['claimed']:g}")
        )
    return lines


def markdown(settings: Settings, tables: Tables) -> str:
    parts = [
        "# Verification of the theorems\n",
        f"`{settings.command}` (ambs {ambs.__version__}): seed {settings.seed}, every simulation repeated "
        f"{settings.repeats:,} times a chain, whole models counted {settings.experiences:,} times, intervals at 95%.\n",
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

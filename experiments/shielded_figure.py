"""Shielded against unshielded: the curves of a suite of `experiments.training_runs`, and the table of what was reached.

Return, cumulative violations of the episodes that ended, and override rate by step; lines are means over seeds, bands
their 95 % t-intervals (of fewer than three seeds, thin lines are the seeds). The table says the same in numbers, and
how many times fewer violations than the agent without a shield in the same environment, by the bootstrap over seeds.

    python -m experiments.shielded_figure shielded-conveyor [--only conveyor-pretrained conveyor-either]
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from ambs.files import replacing, write_text
from ambs.runs.curves import Curves
from experiments.statistics import half_width, interval, ratio
from experiments.training_runs import SUITES, Plan, chosen

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.ticker import MaxNLocator

RESULTS = Path(__file__).parent.parent / "results"
HUES = ("#5c5c5c", "#2a7f62", "#35618f", "#c44536", "#3aa6c9", "#c98a1b", "#8b5fa8")

Runs = dict[int, dict[str, Any]]


def of_plan(plan: Plan, results: Path = RESULTS) -> Runs:
    """The results that are there, by seed."""
    paths = sorted((results / plan.agent).glob(f"{plan.called}-s*.json"))
    found = {re.fullmatch(rf"{re.escape(plan.called)}-s(\d+)", path.stem): path for path in paths}
    return {int(match[1]): json.loads(path.read_text(encoding="utf-8")) for match, path in found.items() if match}


def measures(run: dict[str, Any]) -> dict[str, float]:
    """What the table tells of one run; NaN is what is not known, as of a part of it in which no episode ended.

    The curve has the violations of episodes that ended, the summary all.
    """
    curve, quarter = run["curve"], -(len(run["curve"]["violations"]) // 4)
    told = Curves.of_json(curve).last_tenth(), run["summary"].get("override_rate")
    late, rate = (float("nan") if each is None else float(each) for each in told)
    ended = sum(curve["episodes"][quarter:]) > 0
    return {
        "violations": float(run["summary"]["violations"]),
        "last_quarter": float(sum(curve["violations"][quarter:])) if ended else float("nan"),
        "return": late,
        "override_rate": rate,
    }


def summary(plan: Plan, runs: Runs, unshielded: Runs) -> dict[str, Any]:
    """Of all seeds: means with t-intervals, and ratios of violations to those of the agent without a shield."""
    mine, theirs = ([measures(run) for run in each.values()] for each in (runs, unshielded))
    found: dict[str, Any] = {"name": plan.called, "agent": plan.agent, "env": plan.env, "steps": plan.steps}
    found["seeds"] = sorted(runs)
    for name in mine[0]:
        values = [one[name] for one in mine]
        found[name] = None if np.isnan(values).any() else {"values": values, "shown": _mean(values, name)}
    for name in ("violations", "last_quarter"):
        there = plan.agent != "dreamer" and len(theirs) > 0
        above, below = ([one[name] for one in each] for each in (theirs, mine))
        known = there and not np.isnan([*above, *below]).any()
        found[f"{name}_ratio"] = ratio(above, below) if known else None
    return found


def _mean(values: list[float], name: str) -> str:
    digits = 3 if name == "override_rate" else 1
    return interval(values, digits) if len(values) > 1 else f"{values[0]:.{digits}f}"


def table(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| trained | agent | seeds | violations | fewer | last quarter | fewer | return, last tenth | overridden |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        shown = {
            name: "" if row[name] is None else row[name]["shown"]
            for name in ("violations", "last_quarter", "return", "override_rate")
        }
        cells = [shown["violations"], row["violations_ratio"] or "", shown["last_quarter"]]
        cells += [row["last_quarter_ratio"] or "", shown["return"], shown["override_rate"]]
        lines.append(f"| {row['name']} | {row['agent']} | {len(row['seeds'])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def draw(kept: list[tuple[Plan, Runs]], path: Path) -> None:
    """A row of three panels an environment."""
    envs = list(dict.fromkeys(plan.env for plan, _ in kept))
    figure, axes = plt.subplots(
        len(envs), 3, figsize=(13, 3.6 * len(envs)), layout="constrained", squeeze=False
    )  # fmt: skip
    for line, env in zip(axes, envs, strict=True):
        here = [each for each in kept if each[0].env == env]
        # So many colours that none is left out, in the suite of ablations too.
        hues = HUES if len(here) <= len(HUES) else [to_hex(plt.get_cmap("tab20")(i % 20)) for i in range(len(here))]
        for (plan, runs), colour in zip(here, hues, strict=False):
            curves = [run["curve"] for run in runs.values()]
            steps, label = np.array(curves[0]["step"]), f"{plan.called} ({plan.agent}, {len(runs)})"
            _band(line[0], steps, np.array([curve["return"] for curve in curves], float), colour, label)
            _band(line[1], steps, np.array([np.cumsum(curve["violations"]) for curve in curves], float), colour, label)
            if plan.agent != "dreamer":
                _band(line[2], *_override_rates(list(runs.values())), colour, label)
        for panel, name in zip(line, ("return", "violations of ended episodes", "override rate"), strict=True):
            panel.set(title=f"{env}: {name}", xlabel="environment steps")
            panel.spines[["top", "right"]].set_visible(False)
            panel.xaxis.set_major_locator(MaxNLocator(5))
            # None of the three can be less, though an interval may be.
            panel.set_ylim(bottom=0)
        line[1].legend(frameon=False, fontsize=8)
    with replacing(path) as file:
        figure.savefig(file, dpi=110, format="png")
    plt.close(figure)


def _override_rates(runs: list[dict[str, Any]]) -> tuple[np.ndarray, np.ndarray]:
    """By step; a run that was resumed may have a row more than another."""
    steps = np.array(runs[0]["shield"]["step"])
    rates = [np.interp(steps, run["shield"]["step"], run["shield"]["shield/override_rate"]) for run in runs]
    return steps, np.array(rates)


def _band(axes: Axes, steps: np.ndarray, values: np.ndarray, colour: str, label: str) -> None:
    # Parts of a run in which no episode ended have no mean; they are left out where any seed lacks one.
    there = ~np.isnan(values).any(axis=0)
    mean, half = values.mean(axis=0)[there], np.nan_to_num(half_width(values))[there]
    axes.plot(steps[there], mean, color=colour, label=label)
    if len(values) < 3:
        # An interval over two seeds says nothing; the seeds themselves do.
        axes.plot(steps[there], values[:, there].T, color=colour, alpha=0.4, linewidth=1)
        return
    axes.fill_between(steps[there], mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "suite", choices=[name for name, plans in SUITES.items() if any(p.agent == "ambs" for p in plans)]
    )
    parser.add_argument("--only", nargs="+", help="the names of the suite's plans to show, if not all")
    options = parser.parse_args()
    plans = chosen(options.suite, options.only)
    kept = [(plan, runs) for plan in plans if (runs := of_plan(plan))]
    if not kept:
        raise SystemExit(f"there are no results of {options.suite} yet; see experiments/training_runs.py.")
    bare = {plan.env: runs for plan, runs in kept if plan.agent == "dreamer"}
    rows = [summary(plan, runs, bare.get(plan.env, {})) for plan, runs in kept]
    folder, name = RESULTS / "ambs", f"shielded-{options.suite.removeprefix('shielded-')}"
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{name}.json", json.dumps(rows, indent=1, allow_nan=False) + "\n")
    draw(kept, folder / f"{name}.png")
    print(table(rows))


if __name__ == "__main__":
    main()

"""What the agents of a kept suite come to by seed, as means with t-intervals, game by game.

The report of a suite has interquartile means and the bootstrap, and of three seeds the bootstrap's interval is hardly
more than the least and the greatest of them. Student's is wider; by it, too, agents are told apart here.

    python -m experiments.bench_means minatar

writes results/SUITE/means.json, and prints the tables in Markdown.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from ambs.files import write_text
from experiments.shielded_figure import measures
from experiments.statistics import half_width, ratio

RESULTS = Path(__file__).parent.parent / "results"
# By name: what the table calls it, and digits.
ROWS = {
    "violations": ("violations while training", 0),
    "random": ("of these in the random steps", 0),
    "last_quarter": ("of these in the last quarter", 1),
    "final_return": ("final return", 2),
    "return": ("return at the end", 2),
    "override_rate": ("actions overridden", 2),
    "cpu_minutes": ("CPU minutes a run", 1),
}
Found = dict[str, dict[str, dict[str, Any]]]


def of_run(run: dict[str, Any]) -> dict[str, float]:
    """One run; of its random steps, the violations of episodes that ended in them, if any did."""
    curve, prefill = run["curve"], run["config"]["prefill"]
    parts = [at for at, step in enumerate(curve["step"]) if step <= prefill]
    ended = sum(curve["episodes"][at] for at in parts)
    random = float(sum(curve["violations"][at] for at in parts)) if ended else float("nan")
    return {
        **measures(run),
        "random": random,
        "final_return": _number(run["summary"]["final_return"]),
        "cpu_minutes": run["summary"]["cpu_seconds"] / 60,
    }


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def of_agent(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """All seeds of an agent in a game: by measure the seeds' values, their mean and half of its interval."""
    each = [of_run(run) for run in sorted(runs, key=lambda run: run["summary"]["seed"])]
    return {
        name: {
            "values": [round(one[name], 4) for one in each],
            "mean": round(float(np.mean([one[name] for one in each])), 4),
            "half": None if len(each) < 2 else round(float(half_width([one[name] for one in each])), 4),
        }
        for name in ROWS
        if not np.isnan([one[name] for one in each]).any()
    }


def means(folder: Path) -> Found:
    """By game and agent."""
    runs: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for path in sorted(folder.glob("*-s*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        runs.setdefault(run["game"], {}).setdefault(run["name"], []).append(run)
    return {game: {agent: of_agent(each) for agent, each in sorted(agents.items())} for game, agents in runs.items()}


def apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the intervals of two means do not overlap; of single runs there are none."""
    if one["half"] is None or other["half"] is None:
        return False
    return abs(one["mean"] - other["mean"]) > one["half"] + other["half"]


def table(agents: dict[str, dict[str, Any]]) -> str:
    """One game: an agent a column, and below what is to be said of AMBS beside DreamerV3."""
    lines = [f"| | {' | '.join(agents)} |", "|---" * (len(agents) + 1) + "|"]
    for name, (called, digits) in ROWS.items():
        cells = [_shown(agent[name], digits) if name in agent else "" for agent in agents.values()]
        lines.append(f"| {called} | {' | '.join(cells)} |")
    for agent in agents:
        if agent.startswith("ambs") and "dreamer" in agents:
            lines += _beside(agent, agents[agent], agents["dreamer"])
    return "\n".join(lines)


def _beside(agent: str, mine: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """What is to be said of an agent beside DreamerV3."""
    lines = []
    for name in ("violations", "final_return", "return"):
        if name in mine and name in theirs:
            word = "do not overlap" if apart(mine[name], theirs[name]) else "overlap"
            lines.append(f"\n{ROWS[name][0]}: the intervals of {agent} and dreamer {word}.")
    lines.append(f"\nfewer violations: {ratio(theirs['violations']['values'], mine['violations']['values'])}")
    if "random" in mine and "random" in theirs:
        lines.append(f"\nfewer after the random steps: {ratio(_after(theirs), _after(mine))}")
    return lines


def _after(agent: dict[str, Any]) -> list[float]:
    """Violations of each seed that were not in its random steps."""
    pairs = zip(agent["violations"]["values"], agent["random"]["values"], strict=True)
    return [every - random for every, random in pairs]


def _shown(found: dict[str, Any], digits: int) -> str:
    half = "" if found["half"] is None else f" ± {found['half']:.{digits}f}"
    return f"{found['mean']:.{digits}f}{half} ({', '.join(f'{value:.{digits}f}' for value in found['values'])})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("suite", help="whose kept runs are in results/SUITE")
    folder = RESULTS / parser.parse_args().suite
    found = means(folder)
    if not found:
        raise SystemExit(f"there are no kept runs in results/{folder.name}; see experiments/keep_bench.py.")
    write_text(folder / "means.json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    for game, agents in found.items():
        print(f"## {game}\n\n{table(agents)}\n")


if __name__ == "__main__":
    main()

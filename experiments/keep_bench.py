"""Keeps the finished runs of `ambs bench` as small files, one each, that can be committed: results/SUITE/NAME.json.

Kept files of earlier work are taken for those cells of a suite of ours whose configuration is theirs, and that were not
run; with all the steps of the suite.

    ambs bench conveyor --out runs/bench-conveyor
    python -m experiments.keep_bench runs/bench-conveyor [--reuse results/dreamer results/lag]

Of runs that only show that they work, there is nothing to keep but that they did, in one file:

    ambs bench paper --smoke
    python -m experiments.keep_bench runs/bench-paper-smoke --smoke
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from ambs.bench.cells import Cell, cells
from ambs.bench.suite import Suite, read, suites
from ambs.files import write_text
from ambs.runs.dreamer.training import saved_options
from ambs.runs.storage.folder import MAY_CHANGE, compare
from experiments.training_runs import ROOT, kept


def keep(bench: Path, results: Path) -> list[Path]:
    """The files of all runs that are finished; under the name of a suite of ours, of runs that are that suite's."""
    told = json.loads((bench / "bench.json").read_text(encoding="utf-8"))
    ours = {cell.name: cell for cell in cells(read(told["suite"]), bench)} if told["suite"] in suites() else None
    written = []
    for run in told["runs"]:
        if run["state"] == "finished":
            path = results / told["suite"] / f"{run['name']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            # The folder may have been moved since.
            folder = bench / run["name"]
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            if ours is not None and not _is_run_of(ours.get(run["name"]), config):
                raise SystemExit(f"{folder} is not the suite's run of that name, and would take its place in results.")
            command = run["command"].partition(" --run ")[0]
            found = {"game": run["game"], "name": run["agent"], **kept(folder, command, config["steps"])}
            write_text(path, json.dumps(found) + "\n")
            written.append(path)
    return written


def adopt(suite: Suite, folders: Sequence[Path], results: Path) -> list[Path]:
    """Files of earlier work that are cells of the suite, under the names that they have there."""
    earlier = [
        json.loads(path.read_text(encoding="utf-8")) for each in folders for path in sorted(each.glob("*-s*.json"))
    ]
    written = []
    for cell in cells(suite, results / suite.name):
        path = cell.folder.with_suffix(".json")
        same = [one for one in earlier if _is_run_of(cell, one.get("config"))]
        if same and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps({**same[0], "game": cell.game, "name": cell.agent}) + "\n")
            written.append(path)
    return written


def _is_run_of(cell: Cell | None, config: dict | None) -> bool:
    """Whether it is what the suite has there, with all its steps."""
    if cell is None or config is None or config["steps"] != cell.steps:
        return False
    return not compare(config, json.loads(json.dumps(saved_options(cell.settings)))).keys() - MAY_CHANGE


def smoked(bench: Path, results: Path) -> Path:
    """One file for all: what became of every run, whether it was killed and went on, and what it took."""
    told = json.loads((bench / "bench.json").read_text(encoding="utf-8"))
    path = results / f"{told['suite']}-smoke.json"
    runs = [
        {
            **{name: run[name] for name in ("game", "agent", "state", "tries")},
            "killed_once": run.get("killed_once", False),
            **{name: (run["summary"] or {}).get(name) for name in ("steps", "updates", "cpu_seconds")},
        }
        for run in told["runs"]
    ]
    write_text(path, json.dumps({"suite": told["suite"], "runs": runs}, indent=1) + "\n")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, help="the folder that was given to --out")
    parser.add_argument("--reuse", type=Path, nargs="+", default=[], help="folders with kept files of earlier work")
    parser.add_argument("--smoke", action="store_true", help="the runs only show that they work: one file for all")
    options = parser.parse_args()
    if options.smoke:
        print(smoked(options.bench, ROOT / "results"))
        return
    written = keep(options.bench, ROOT / "results")
    if options.reuse:
        suite = json.loads((options.bench / "bench.json").read_text(encoding="utf-8"))["suite"]
        written += adopt(read(suite), options.reuse, ROOT / "results")
    print(*written, sep="\n")


if __name__ == "__main__":
    main()

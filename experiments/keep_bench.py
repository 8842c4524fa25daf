"""Keeps the finished runs of `ambs bench` as small files, one each, that can be committed: results/SUITE/NAME.json.

ambs bench conveyor --out runs/bench-conveyor
python -m experiments.keep_bench runs/bench-conveyor
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ambs.files import write_text
from experiments.training_runs import ROOT, kept


def keep(bench: Path, results: Path) -> list[Path]:
    """The files of all runs that are finished."""
    told = json.loads((bench / "bench.json").read_text(encoding="utf-8"))
    written = []
    for run in told["runs"]:
        if run["state"] == "finished":
            path = results / told["suite"] / f"{run['name']}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            # The folder may have been moved since.
            folder = bench / run["name"]
            config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
            command = run["command"].partition(" --run ")[0]
            found = {"game": run["game"], "name": run["agent"], **kept(folder, command, config["steps"])}
            write_text(path, json.dumps(found) + "\n")
            written.append(path)
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench", type=Path, help="the folder that was given to --out")
    print(*keep(parser.parse_args().bench, ROOT / "results"), sep="\n")


if __name__ == "__main__":
    main()

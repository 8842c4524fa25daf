"""The run that `ambs train` compares its example with: keeps one result of `experiments.training_runs` in the package.

python -m experiments.training_runs shielded-conveyor --only conveyor-pretrained --seeds 0
python -m experiments.twin
"""

from __future__ import annotations

import json

from ambs.files import write_text
from ambs.runs.dreamer import RunConfig
from ambs.runs.dreamer.saved import rebuilt
from ambs.runs.dreamer.training import saved_options
from ambs.runs.twin import FILE
from experiments.training_runs import ROOT

RESULT = ROOT / "results" / "dreamer" / "conveyor-pretrained-s0.json"


def main() -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    config = {name: value for name, value in result["config"].items() if name != "agent"}
    # As a run of today would be saved.
    options = saved_options(rebuilt(RunConfig, config, str(RESULT)))
    kept = {"command": result["command"], "config": options, "curve": result["curve"]}
    path = ROOT / "src" / "ambs" / "runs" / FILE
    write_text(path, json.dumps(kept) + "\n")
    print(path.relative_to(ROOT), "of", result["command"])


if __name__ == "__main__":
    main()

"""The run that `ambs train` compares its example with: keeps one result of `experiments.training_runs` in the package.

python -m experiments.training_runs shielded-conveyor --only conveyor-pretrained --seeds 0
python -m experiments.twin
"""

from __future__ import annotations

import json

from ambs.files import write_text
from ambs.runs.twin import FILE
from experiments.training_runs import ROOT

RESULT = ROOT / "results" / "dreamer" / "conveyor-pretrained-s0.json"


def main() -> None:
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    kept = {name: result[name] for name in ("command", "config", "curve")}
    path = ROOT / "src" / "ambs" / "runs" / FILE
    write_text(path, json.dumps(kept) + "\n")
    print(path.relative_to(ROOT), "of", result["command"])


if __name__ == "__main__":
    main()

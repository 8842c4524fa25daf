"""What docs/bench.md says that the paper's table would take is what the plan says, and that is what we count now."""

import json
from pathlib import Path

import pytest

from ambs.bench.cells import cells
from ambs.bench.conduct import Job
from ambs.bench.machines import machine
from ambs.bench.plan import plan
from ambs.bench.suite import read
from ambs.commands.bench_output import _number

ROOT = Path(__file__).parents[2]
NAMES = {"dreamer": "DreamerV3", "ambs": "AMBS", "lag": "LAG", "rainbow": "Rainbow", "iqn": "IQN"}
SCALES = {
    "parameters": 1e6, "flops": 1e15, "accelerator_bytes": 1e9, "replay_bytes": 1e9, "disk_bytes": 1e9, "hours": 1.0
}  # fmt: skip
# Of 25 runs side by side nobody needs the sum.
NO_SUM = ("parameters", "accelerator_bytes")


@pytest.fixture(scope="module")
def committed():
    return json.loads((ROOT / "results" / "paper-plan.json").read_text(encoding="utf-8"))


def test_the_table_in_the_documentation_is_the_plan(committed):
    text = (ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    table = text[text.index("| agent | weights, millions") :].partition("\n\n")[0].splitlines()
    assert table[0].split(" | ")[3:6] == ["on the accelerator, GB", "replay, GB", "disk, GB"]
    said = {cells[0]: cells[1:] for line in table[2:] for cells in [[each.strip() for each in line.split("|")[1:-1]]]}
    runs = committed["runs"]
    assert len(runs) == 25
    for run in runs:
        agent = run["name"].removesuffix("-s0").rpartition("-")[2]
        assert said[NAMES[agent]] == [_number(run[name] / scale) for name, scale in SCALES.items()], run["name"]
    sums = {name: _number(sum(run[name] for run in runs) / scale) for name, scale in SCALES.items()}
    assert said["all 25 runs"] == ["" if name in NO_SUM else text for name, text in sums.items()]
    assert (committed["machine"]["name"], committed["utilisation"]) == ("a30", 0.25)


def test_the_plan_is_what_is_counted_now(committed, tmp_path):
    """Of one game, and all of them take the same."""
    found = cells(read("paper").only(["seaquest"]), Path("runs") / "bench-paper")
    jobs = [Job(cell, tmp_path / "log") for cell in found]
    kept = {run["name"]: run for run in committed["runs"]}
    for planned in plan(jobs, machine("a30", None), 0.25):
        now, then = planned.as_json(), kept[planned.cell.name]
        assert now["command"] == then["command"]
        numbers = ("updates", "flops", "parameters", "learner_bytes", "accelerator_bytes", "replay_bytes", "disk_bytes")
        assert {name: now[name] for name in numbers} == pytest.approx({name: then[name] for name in numbers})
        # What has to be on the accelerator, and what need not.
        assert now["accelerator_bytes"] == now["learner_bytes"] + 4 * now["parameters"]
        assert now["disk_bytes"] == now["replay_bytes"] + 2 * now["learner_bytes"]

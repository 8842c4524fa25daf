"""Plans of different suites that have one name are one run, since what is there already is not run again."""

import json

from ambs.bench.cells import cells
from ambs.bench.suite import read
from ambs.runs.dreamer.training import saved_options
from experiments.keep_bench import adopt
from experiments.training_runs import SUITES


def test_one_name_is_one_run():
    named = {}
    for suite, plans in SUITES.items():
        for plan in plans:
            assert named.setdefault(plan.of(0), plan) == plan, suite


def test_kept_files_are_taken_for_the_cells_whose_configuration_they_have(tmp_path):
    suite = read("conveyor").only(["rainbow", "iqn"])
    cell = cells(suite, tmp_path)[0]
    config = json.loads(json.dumps(saved_options(cell.settings)))
    (tmp_path / "earlier").mkdir()
    for name, changes in (("same", {}), ("other", {"batch": 7}), ("longer", {"steps": 1 + cell.steps})):
        kept = {"config": {**config, **changes}, "summary": {"seed": 0}, "name": "as it was called then"}
        (tmp_path / "earlier" / f"{name}-s0.json").write_text(json.dumps(kept))
    (written,) = adopt(suite, [tmp_path / "earlier"], tmp_path / "results")
    assert written == tmp_path / "results" / "conveyor" / f"{cell.name}.json"
    found = json.loads(written.read_text())
    assert (found["game"], found["name"], found["summary"]) == ("conveyor", cell.agent, {"seed": 0})

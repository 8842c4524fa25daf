"""Plans of different suites that have one name are one run, since what is there already is not run again."""

import json

import pytest

from ambs.bench.cells import cells
from ambs.bench.suite import read
from ambs.runs.dreamer.training import saved_options
from experiments.keep_bench import adopt, keep, smoked
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


def test_of_smoke_runs_it_is_kept_that_they_worked(tmp_path):
    summary = {"steps": 160, "updates": 4, "cpu_seconds": 9.5, "violations": 3}
    run = {"game": "seaquest", "agent": "ambs", "tries": 1, "command": "ambs train", "folder": "elsewhere"}
    runs = [
        {**run, "state": "finished", "killed_once": True, "summary": summary},
        {**run, "state": "failed", "summary": None},
    ]
    (tmp_path / "bench.json").write_text(json.dumps({"suite": "paper", "runs": runs}))
    kept = json.loads(smoked(tmp_path, tmp_path).read_text())
    assert [(each["state"], each["killed_once"], each["updates"]) for each in kept["runs"]] == [
        ("finished", True, 4), ("failed", False, None)
    ]  # fmt: skip
    assert "elsewhere" not in json.dumps(kept)


def test_what_is_not_a_suites_run_is_not_kept_in_its_place(tmp_path):
    """As of a bench with other --steps, or of a YAML file of the same name."""
    (cell,) = cells(read("conveyor").only(["rainbow"]), tmp_path)[:1]
    config = json.loads(json.dumps(saved_options(cell.settings)))
    run = {"game": cell.game, "agent": cell.agent, "name": cell.name, "state": "finished", "command": "ambs train"}
    (tmp_path / "bench.json").write_text(json.dumps({"suite": "conveyor", "runs": [run]}))
    (tmp_path / cell.name).mkdir()
    for changes in ({"steps": 200}, {"batch": 7}):
        (tmp_path / cell.name / "config.json").write_text(json.dumps({**config, **changes}))
        with pytest.raises(SystemExit, match="would take its place"):
            keep(tmp_path, tmp_path / "results")
    assert not list((tmp_path / "results").rglob("*.json"))

"""`bench.json`, after commands about parts of a suite."""

import json

from ambs.bench.cells import cells
from ambs.bench.conduct import Job
from ambs.bench.record import record
from ambs.bench.suite import read
from ambs.commands.bench_output import print_results
from tests.bench.small import finish, suite_file


def test_a_command_about_one_part_does_not_forget_the_others(tmp_path, run_ambs):
    out, suite = tmp_path / "out", suite_file(tmp_path, seeds=[0], agents={"rainbow": {}, "iqn": {}})
    found = {cell.agent: cell for cell in cells(read(suite), out)}
    for agent, cell in found.items():
        finish(cell, cell.folder)
        code, said, _ = run_ambs("bench", suite, "--out", out, "--only", agent, "--json")
        assert code == 0
    told = json.loads((out / "bench.json").read_text())
    # On standard output, also where the report is; of these, as if trained, there is none.
    assert {**told, "report": None} == json.loads(said)
    assert [run["name"] for run in told["runs"]] == ["conveyor-rainbow-s0", "conveyor-iqn-s0"]
    # Without a folder it is not finished any more; and a file that nobody can read is no reason to stop.
    found["rainbow"].folder.rename(tmp_path / "elsewhere")
    for _ in range(2):
        run_ambs("bench", suite, "--out", out, "--only", "iqn")
        told = json.loads((out / "bench.json").read_text())
        assert [run["name"] for run in told["runs"]] == ["conveyor-iqn-s0"]
        (out / "bench.json").write_text("[1")


def test_runs_of_another_suite_are_not_in_it(tmp_path):
    suite = read(suite_file(tmp_path))
    out = tmp_path / "out"
    out.mkdir()
    (out / "bench.json").write_text(json.dumps({"suite": "other", "runs": [{"name": "a", "state": "failed"}]}))
    jobs = [Job(cell, tmp_path / "log") for cell in cells(suite, out)]
    assert len(record(suite, jobs, out)["runs"]) == len(jobs)


def test_how_often_a_run_was_started_again_is_told_over_all_commands(tmp_path, capsys):
    suite, out = read(suite_file(tmp_path, seeds=[0])), tmp_path / "out"
    out.mkdir()
    (cell,) = cells(suite, out)
    for tries, expected in ((2, 2), (0, 2), (1, 3)):
        (run,) = record(suite, [Job(cell, tmp_path / "log", "finished", tries=tries)], out)["runs"]
        assert run["tries"] == expected
        cell.folder.mkdir(exist_ok=True)
    print_results([Job(cell, tmp_path / "log", "finished", tries=17)])
    heading, *_, row = (line for line in capsys.readouterr().out.splitlines() if line.strip())
    assert heading.split()[-1] == "retries"
    assert row.split() == ["conveyor-rainbow-s0", "finished", "17"]

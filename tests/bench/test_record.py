"""`bench.json`, after commands about parts of a suite."""

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from ambs.bench.cells import cells
from ambs.bench.conduct import Job, conduct
from ambs.bench.record import Record
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


def test_the_page_says_the_whole_command_and_those_of_the_runs(tmp_path, monkeypatch, run_ambs):
    monkeypatch.chdir(tmp_path)
    suite_file(tmp_path)
    (cell,) = cells(read("mine.yaml"), Path("out"))[:1]
    finish(cell, cell.folder)
    (cell.folder / "scores.jsonl").write_text('{"step": 400, "return": 1.0, "length": 9, "violations": 0}\n')
    told = ("bench", "mine.yaml", "--out", "out", "--only", "rainbow", "--seeds", "0", "--steps", "400")
    assert run_ambs(*told)[0] == 0
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert f"<dt>made by</dt><dd>ambs {' '.join(told)}</dd>" in page
    assert f"<li><code>{cell.command}</code></li>" in page
    assert "--run out/conveyor-rainbow-s0" in cell.command
    assert str(tmp_path) not in page


def test_runs_of_another_suite_are_not_in_it(tmp_path):
    suite = read(suite_file(tmp_path))
    out = tmp_path / "out"
    out.mkdir()
    (out / "bench.json").write_text(json.dumps({"suite": "other", "runs": [{"name": "a", "state": "failed"}]}))
    jobs = [Job(cell, tmp_path / "log") for cell in cells(suite, out)]
    assert len(Record(suite, jobs, out).write()["runs"]) == len(jobs)


def test_how_often_a_run_was_started_again_is_told_over_all_commands(tmp_path, capsys):
    suite, out = read(suite_file(tmp_path, seeds=[0])), tmp_path / "out"
    out.mkdir()
    (cell,) = cells(suite, out)
    for tries, expected in ((2, 2), (0, 2), (1, 3)):
        record = Record(suite, [Job(cell, tmp_path / "log", "finished", tries=tries)], out)
        # However often it is written.
        for _ in range(2):
            (run,) = record.write()["runs"]
            assert run["tries"] == expected
        cell.folder.mkdir(exist_ok=True)
    # Of all commands, and not of the last.
    print_results([Job(cell, tmp_path / "log", "finished", tries=1)], {cell.name: 17})
    heading, *_, row = (line for line in capsys.readouterr().out.splitlines() if line.strip())
    assert heading.split()[-1] == "retries"
    assert row.split() == ["conveyor-rainbow-s0", "finished", "17"]


def test_a_stopped_run_says_how_far_it_is(tmp_path, capsys):
    (cell,) = cells(read(suite_file(tmp_path, seeds=[0])), tmp_path / "out")
    cell.folder.mkdir(parents=True)
    (cell.folder / "metrics.jsonl").write_text('{"step": 250, "violations": 3}\n')
    print_results([Job(cell, tmp_path / "log", "stopped")], {})
    *_, row = (line for line in capsys.readouterr().out.splitlines() if line.strip())
    assert row.split() == ["conveyor-rainbow-s0", "stopped", "250", "3"]


def test_that_a_run_was_killed_is_known_when_the_command_is_repeated(tmp_path):
    suite, out = dataclasses.replace(read(suite_file(tmp_path, seeds=[0])), smoke=True), tmp_path / "out"
    (cell,) = cells(suite, out)
    cell.folder.mkdir(parents=True)

    def repeated(**changes):
        job = Job(cell, tmp_path / "log", "finished")
        record = Record(suite, [job], out)
        for name, value in changes.items():
            setattr(job, name, value)
        (run,) = record.write()["runs"]
        return job.killed, run["killed_once"]

    assert repeated() == (False, False)
    assert repeated(killed=True) == (True, True)
    assert repeated() == (True, True)
    # A run whose folder is gone begins anew, and is to be killed once more.
    cell.folder.rmdir()
    assert repeated(state="waiting") == (False, False)


def test_a_run_that_was_at_its_end_before_it_could_be_killed_is_seen(tmp_path, capsys):
    suite, out = dataclasses.replace(read(suite_file(tmp_path)), smoke=True), tmp_path / "out"
    out.mkdir()
    jobs = [Job(cell, tmp_path / "log") for cell in cells(suite, out)]
    record, said = Record(suite, jobs, out), []

    class Place:
        """Where the first run is at its end at once, and the second has learned something, and goes on."""

        slots = 2

        def start(self, cell, log):
            if cell is jobs[0].cell or cell.folder.exists():
                shutil.rmtree(cell.folder, ignore_errors=True)
                finish(cell, cell.folder)
                return Handle(0)
            (cell.folder / "checkpoints").mkdir(parents=True)
            (cell.folder / "checkpoints" / "80.json").touch()
            (cell.folder / "metrics.jsonl").write_text('{"step": 80, "loss": 1.0}\n')
            return Handle(None)

    class Handle:
        def __init__(self, code):
            self.code = code

        def poll(self):
            return self.code

        def stop(self):
            """It is not asked to."""

        def kill(self):
            self.code = -9

    conduct(jobs, Place(), retries=0, show=lambda _, sentence: said.append(sentence), kill=True)
    assert "conveyor-rainbow-s0: finished, before it could be killed" in said
    assert "conveyor-rainbow-s1: finished" in said
    assert [(run["state"], run["killed_once"]) for run in record.write()["runs"]] == [
        ("finished", False), ("finished", True)
    ]  # fmt: skip
    print_results(jobs, {}, smoke=True)
    heading, *_, first, second = (line.split() for line in capsys.readouterr().out.splitlines() if line.strip())
    assert heading[-2:] == ["killed", "retries"]
    assert (first[-1], second[-1]) == ("no", "once")


KILLED = """
import sys
from pathlib import Path
from ambs.commands import bench
from tests.bench.test_record import Crashes
bench.Bench._place = lambda self, jobs, smoke: Crashes(int(sys.argv[3]))
bench.Bench(sys.argv[1], out=Path(sys.argv[2]), jobs=1, retries=9).run()
"""


class Crashes:
    """A place where runs crash at once, so many of them; the next start kills the bench, as the system would."""

    slots = 1

    def __init__(self, times):
        self.times = times

    def start(self, cell, log):
        if self.times == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.times -= 1
        return self

    def poll(self):
        return 1

    def stop(self):
        """It has ended."""

    def kill(self):
        """It has ended."""


def test_a_bench_that_is_killed_has_told_how_often_it_started_runs_again(tmp_path):
    suite, out, root = suite_file(tmp_path, seeds=[0]), tmp_path / "out", Path(__file__).parents[2]
    for crashes, tries in ((3, 3), (1, 4), (0, 4)):
        done = subprocess.run(
            [sys.executable, "-c", KILLED, suite, str(out), str(crashes)], cwd=root, capture_output=True, text=True
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        told = json.loads((out / "bench.json").read_text())
        assert [(run["state"], run["tries"]) for run in told["runs"]] == [("waiting", tries)]


def test_it_is_written_when_something_has_changed_and_a_full_disk_ends_nothing(tmp_path, monkeypatch):
    suite, out = read(suite_file(tmp_path, seeds=[0])), tmp_path / "out"
    out.mkdir()
    (cell,) = cells(suite, out)
    job = Job(cell, tmp_path / "log")
    record = Record(suite, [job], out)

    def states():
        return [run["state"] for run in json.loads((out / "bench.json").read_text())["runs"]]

    record.keep_up()
    assert states() == ["waiting"]
    (out / "bench.json").unlink()
    record.keep_up()
    assert not (out / "bench.json").exists()
    job.state = "running"
    with monkeypatch.context() as full:
        full.setattr("ambs.bench.record.write_text", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        record.keep_up()
    record.keep_up()
    assert states() == ["running"]
    # By the next bench nothing runs any more; another part of the suite is told so.
    (run,) = Record(suite, [], out).write()["runs"]
    assert run["state"] == "stopped"

"""Whole benches with real runs: interrupted, crashed, refused; nothing is lost and nothing counted twice."""

import contextlib
import dataclasses
import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from ambs.bench.cells import cells
from ambs.bench.child import ONE_CORE, QUICK, TO_BE_KILLED, start
from ambs.bench.conduct import Job, _has_learned, conduct
from ambs.bench.estimate import estimate
from ambs.bench.places import Here
from ambs.bench.reuse import reuse
from ambs.bench.suite import read
from ambs.errors import AmbsError
from ambs.runs.value import train
from experiments.keep_bench import keep
from tests.bench.small import finish, suite_file

# And what made it: runs of a bench have a core of their own.
TIMES = ("wall_seconds", "cpu_seconds", "made_by")


@pytest.fixture(autouse=True)
def quickly_compiled(monkeypatch):
    """In the runs' processes too."""
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The two runs of the suite, trained in this process: the folder, and the table that there should be."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    found = cells(read(suite_file(folder)), folder / "out")
    return folder / "out", {cell.name: timeless(train(cell.settings, cell.folder)) for cell in found}


def timeless(summary):
    return {name: value for name, value in summary.items() if name not in TIMES}


def jobs_in(folder):
    found = cells(read(suite_file(folder)), folder / "out")
    return [Job(cell, folder / f"{cell.name}.log") for cell in found]


@contextlib.contextmanager
def terminated_soon_after(path, delay):
    """Within, this process is sent SIGTERM so long after the file is there; later than that, nothing comes of it."""
    over = threading.Event()

    def wait():
        while not path.exists() and not over.wait(0.02):
            pass
        if not over.wait(delay):
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda *_: None)
    thread = threading.Thread(target=wait)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        signal.signal(signal.SIGTERM, before)


def test_interrupted_at_any_time_the_same_command_gives_the_same_table(tmp_path, uninterrupted, run_ambs):
    out, moment = tmp_path / "out", random.uniform(0, 6)
    told = ("bench", suite_file(tmp_path), "--out", out, "--jobs", 1, "--json")
    with terminated_soon_after(out / "conveyor-rainbow-s0" / "scores.jsonl", moment):
        code, said, _ = run_ambs(*told)
    assert code in (143, 0), moment
    before = {run["name"]: run for run in json.loads(said)["runs"]}
    assert {run["state"] for run in before.values()} <= {"finished", "stopped", "waiting"}
    code, said, errors = run_ambs(*told)
    assert code == 0, (moment, errors)
    after = {run["name"]: run for run in json.loads(said)["runs"]}
    assert {name: timeless(run["summary"]) for name, run in after.items()} == uninterrupted[1], moment
    for name, run in before.items():
        if run["state"] == "finished":
            assert run["summary"] == after[name]["summary"]
            assert f"{name}: " not in errors
    for name, run in after.items():
        assert len((out / name / "scores.jsonl").read_text().splitlines()) == run["summary"]["episodes"]
    assert json.loads((out / "bench.json").read_text())["runs"] == list(after.values())
    # All of it on one page, in the end.
    page = (out / "report.html").read_text(encoding="utf-8")
    assert json.loads(said)["report"] == str(out / "report.html")
    assert "rainbow" in page


def test_a_report_that_cannot_be_made_takes_nothing_from_the_results(tmp_path, uninterrupted, run_ambs):
    shutil.copytree(uninterrupted[0], tmp_path / "out")
    (tmp_path / "out" / "report.html").mkdir()
    code, said, err = run_ambs("bench", suite_file(tmp_path), "--out", tmp_path / "out", "--json")
    assert (code, json.loads(said)["report"]) == (0, None)
    assert "there is no report of the runs" in err


def test_a_smoke_test_kills_every_run_and_it_goes_on(tmp_path, run_ambs):
    out = tmp_path / "out"
    code, said, errors = run_ambs("bench", suite_file(tmp_path, seeds=[0]), "--smoke", "--out", out, "--jobs", 1)
    assert code == 0, errors
    assert "killed after a checkpoint, to see that it goes on" in errors
    assert "conveyor-rainbow-s0: goes on from its checkpoint" in errors
    (row,) = [line for line in said.splitlines() if line.strip().startswith("conveyor-rainbow-s0")]
    assert row.split()[-1] == "once"
    (run,) = json.loads((out / "bench.json").read_text())["runs"]
    assert (run["state"], run["killed_once"], run["tries"]) == ("finished", True, 0)
    assert json.loads((out / "conveyor-rainbow-s0" / "summary.json").read_text())["steps"] == 160
    rows = [json.loads(row) for row in (out / "conveyor-rainbow-s0" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [80, 160]
    assert str(out / "report.html") in said.replace("\n", "")


def test_a_smoke_run_waits_at_its_checkpoint_to_be_killed_and_no_longer_than_until_it_is_stopped(tmp_path):
    (cell,) = cells(dataclasses.replace(read(suite_file(tmp_path, seeds=[0])), smoke=True), tmp_path / "out")
    process = start(cell.arguments, tmp_path / "log", {**ONE_CORE, **QUICK, **TO_BE_KILLED})
    try:
        while not _has_learned(cell.folder):
            assert process.poll() is None, (tmp_path / "log").read_text()
            time.sleep(0.05)
        # The other half of its steps would take a fraction of that.
        time.sleep(2)
        assert process.poll() is None
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
    finally:
        process.kill()
        process.wait()
    assert cell.summary() is None


def test_a_run_that_crashes_goes_on_from_its_checkpoint(tmp_path, uninterrupted):
    (job, _) = jobs_in(tmp_path)
    said, pids = [], []

    def crash(jobs, sentence):
        said.extend([sentence] if sentence else [])
        if not pids and any((job.cell.folder / "checkpoints").glob("*.json")):
            pids.append(job.handle.pid)
            os.kill(job.handle.pid, signal.SIGKILL)

    assert conduct([job], Here(1, 1, ONE_CORE), retries=1, show=crash) is None
    assert pids
    assert timeless(job.summary) == uninterrupted[1][job.cell.name]
    assert said == [
        "conveyor-rainbow-s0: started",
        "conveyor-rainbow-s0: ended by signal 9, is started again (1 of 1)",
        "conveyor-rainbow-s0: goes on from its checkpoint",
        "conveyor-rainbow-s0: finished",
    ]
    replay = sum(path.stat().st_size for path in (job.cell.folder / "replay").glob("*"))
    assert replay == pytest.approx(estimate(job.cell.settings).replay_bytes, rel=0.01)


def test_a_run_that_crashes_too_often_has_failed(tmp_path):
    (job, _) = jobs_in(tmp_path)

    def crash(jobs, sentence):
        if job.handle is not None:
            os.kill(job.handle.pid, signal.SIGKILL)

    assert conduct([job], Here(1, 1, ONE_CORE), retries=2, show=crash) is None
    assert (job.state, job.tries, job.summary) == ("failed", 2, None)


class Ends:
    """A place whose runs are at their end as soon as they are started: with these codes, and what they leave."""

    slots = 1

    def __init__(self, codes, leave):
        self._codes, self._leave, self.pid = iter(codes), leave, None

    def start(self, cell, log):
        self._leave(cell)
        return self

    def poll(self):
        return next(self._codes)

    def stop(self):
        pass

    kill = stop


def test_a_run_that_has_its_steps_is_finished_however_its_process_ended(tmp_path):
    (job, _) = jobs_in(tmp_path)
    said = []
    place = Ends([1], lambda cell: finish(cell, cell.folder))
    conduct([job], place, retries=2, show=lambda _, sentence: said.extend([sentence] if sentence else []))
    assert (job.state, job.tries, job.summary["steps"]) == ("finished", 0, 400)
    assert said[-1] == f"conveyor-rainbow-s0: finished, and then ended with code 1; {job.log} says why"


class Goes:
    """A place whose runs go on until they are asked to end, and then save themselves for two looks; or are killed."""

    slots = 1

    def __init__(self, *, stubborn=False):
        self.asked, self._left, self._stubborn = [], 2, stubborn

    def start(self, cell, log):
        return self

    def poll(self):
        if "stop" in self.asked:
            if self._stubborn:
                raise KeyboardInterrupt
            self._left -= 1
        return 143 if self._left == 0 else None

    def stop(self):
        self.asked.append("stop")

    def kill(self):
        self.asked.append("kill")


@pytest.mark.parametrize("stubborn", [False, True])
def test_an_error_of_the_bench_lets_its_runs_save_themselves(tmp_path, stubborn):
    """As of a terminal that is gone; but Ctrl-C while they do does not wait."""
    (job, _) = jobs_in(tmp_path)
    place = Goes(stubborn=stubborn)

    def gone(jobs, sentence):
        raise BrokenPipeError

    with pytest.raises(KeyboardInterrupt if stubborn else BrokenPipeError):
        conduct([job], place, retries=2, show=gone)
    assert place.asked == (["stop", "kill"] if stubborn else ["stop"])
    assert stubborn or job.state == "stopped"


def test_a_summary_that_cannot_be_read_fails_that_run_alone(tmp_path):
    one, other = jobs_in(tmp_path)

    def leave(cell):
        finish(cell, cell.folder)
        if cell is one.cell:
            (cell.folder / "summary.json").write_text("{")

    said = []
    place = Ends([0, 0], leave)
    conduct([one, other], place, retries=2, show=lambda _, sentence: said.extend([sentence] if sentence else []))
    assert (one.state, one.summary, other.state) == ("failed", None, "finished")
    (line,) = [line for line in said if "failed" in line]
    assert "summary.json cannot be read" in line
    assert one.last_words() == [one.trouble]
    # As it would be if it had been broken before it was to start.
    again = Job(one.cell, one.log)
    conduct([again], place, retries=2, show=lambda *_: None)
    assert again.state == "failed"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process that its parent has ended")
def test_a_run_ends_when_its_bench_is_killed():
    child = "import sys, time; from ambs.bench.child import end_with; end_with(int(sys.argv[1])); print(1, flush=1);"
    parent = "import os, subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1], str(os.getpid())])"
    told = [sys.executable, "-c", parent, child + "time.sleep(60)"]
    with subprocess.Popen(told, stdout=subprocess.PIPE, bufsize=0) as bench:
        assert bench.stdout.readline() == b"1\n"
        bench.kill()
        # The child has the pipe too, and it is at its end only when both are gone.
        ended, _, _ = select.select([bench.stdout], [], [], 30)
        assert ended
        assert bench.stdout.read() == b""


def test_a_mistake_that_train_explains_is_told_and_not_tried_again(tmp_path, run_ambs):
    path = suite_file(tmp_path, seeds=[0], games={"conveyor": {"option": ["colour=red"]}})
    code, out, err = run_ambs("bench", path, "--out", tmp_path / "out", "--jobs", 1)
    assert code == 1
    assert "failed" in out
    assert "is started again" not in err
    assert "conveyor-rainbow-s0 did not finish; the end of" in err
    assert 'takes no option "colour"' in err


def test_finished_runs_are_left_alone_and_others_in_their_place_refused(tmp_path, uninterrupted, run_ambs):
    out, table = uninterrupted
    code, said, err = run_ambs("bench", suite_file(tmp_path), "--out", out, "--json")
    assert (code, err) == (0, "")
    assert {run["name"]: timeless(run["summary"]) for run in json.loads(said)["runs"]} == table
    kept = keep(out, tmp_path / "results")
    assert [path.stem for path in kept] == list(table)
    assert {path.stem: timeless(json.loads(path.read_text())["summary"]) for path in kept} == table
    for changes, sentence in (
        ({"agents": {"rainbow": {"discount": 0.5}}}, "is another run: there learner.discount is 0.99, and for this"),
        ({"steps": 300}, "is a run of 400 steps, and this suite has 300"),
    ):
        code, _, err = run_ambs("bench", suite_file(tmp_path, **changes), "--out", out)
        assert code == 2
        assert sentence in err


def test_finished_runs_of_earlier_work_are_linked_to(tmp_path, uninterrupted):
    earlier, table = uninterrupted
    found = cells(read(suite_file(tmp_path)), tmp_path / "out")
    assert set(reuse(found, [earlier.parent])) == set(table)
    assert {cell.name: timeless(cell.summary()) for cell in found} == table
    others = cells(read(suite_file(tmp_path, agents={"rainbow": {"discount": 0.5}})), tmp_path / "other")
    assert reuse(others, [earlier]) == {}
    with pytest.raises(AmbsError, match="--reuse .*nowhere: there is no such folder"):
        reuse(found, [tmp_path / "nowhere"])


def test_a_run_that_another_process_writes_to_has_to_wait_and_that_is_said_once(tmp_path):
    (cell, _) = cells(read(suite_file(tmp_path)), tmp_path / "out")
    assert not cell.is_busy()
    cell.folder.mkdir(parents=True)
    lock = cell.folder / "lock"
    hold = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX); print(flush=True); input()"
    )
    said, looks = [], []
    with subprocess.Popen([sys.executable, "-c", hold, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        holder.stdout.readline()
        assert cell.is_busy()

        def show(jobs, sentence):
            said.extend([sentence] if sentence else [])
            looks.append(sentence)
            if len(looks) == 5:
                # It ends, and has all its steps.
                shutil.rmtree(cell.folder)
                finish(cell, cell.folder)
                holder.communicate(b"\n")

        conduct([Job(cell, tmp_path / "log")], Here(1, 1, ONE_CORE), retries=0, show=show)
    assert not cell.is_busy()
    assert said == [
        f"conveyor-rainbow-s0: another process writes to {cell.folder}, and is waited for",
        "conveyor-rainbow-s0: has its steps meanwhile",
    ]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--jobs", "0"], "--jobs is 0"),
        (["--jobs", "4096"], "4096 runs side by side on 1 cores each need 4096 cores"),
        (["--retries", "-1"], "--retries is -1"),
        (["--seeds", "1", "1"], "--seeds has to have"),
        (["--steps", "0"], "--steps is 0"),
        (["--only", "pong"], 'no game or agent "pong"; it has the games conveyor and the agents rainbow'),
        (["--cpus-per-run", "0.5"], "--cpus-per-run, of runs on this machine, is 0.5"),
        (["--gpus-per-run", "1"], "--gpus-per-run is for --on ray; here --jobs runs share all"),
        (["--dry-run", "--gpu", "b200"], 'no GPU "b200"'),
    ],
)
def test_options_that_cannot_be_are_a_sentence(options, sentence, tmp_path, run_ambs):
    code, out, err = run_ambs("bench", suite_file(tmp_path), "--out", tmp_path / "out", *options)
    assert (code, out) == (2, "")
    assert sentence in err
    assert len(err.splitlines()) == 1

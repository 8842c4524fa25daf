"""On a real Ray, started here: runs finish, go on where they were stopped or have crashed, and ask for no more than
there is. What a cluster does wrong is played by a Ray that is none, so that it is tested without one too.
"""

import json
import os
import signal
import sys
import threading
import time
import types

import pytest

from ambs.bench.cells import cells
from ambs.bench.child import ONE_CORE
from ambs.bench.cluster import Cluster
from ambs.bench.conduct import Job, conduct
from ambs.bench.suite import read
from ambs.errors import AmbsError
from ambs.runs.value import train
from tests.bench.small import suite_file

# And what made it: runs of a bench have a core of their own.
TIMES = ("wall_seconds", "cpu_seconds", "made_by")


@pytest.fixture
def ray(monkeypatch):
    """One core, in a cluster of its own, which ends with the test."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ambs[ray]'")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    ray.init(
        num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR", _node_ip_address="127.0.0.1"
    )
    yield ray
    ray.shutdown()


def test_runs_on_ray_stop_and_go_on(tmp_path, ray, run_ambs):
    out = tmp_path / "out"
    told = ("bench", suite_file(tmp_path, seeds=[0], steps=2000), "--out", out, "--on", "ray", "--json")
    checkpoints = out / "conveyor-rainbow-s0" / "checkpoints"

    def interrupt():
        while not any(checkpoints.glob("*.json")):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda *_: None)
    thread = threading.Thread(target=interrupt, daemon=True)
    thread.start()
    code, said, _ = run_ambs(*told)
    thread.join()
    signal.signal(signal.SIGTERM, before)
    (run,) = json.loads(said)["runs"]
    assert (code, run["state"]) == (143, "stopped")
    code, said, errors = run_ambs(*told)
    assert code == 0, errors
    assert "goes on from its checkpoint" in errors
    (run,) = json.loads(said)["runs"]
    assert run["state"] == "finished"
    assert run["summary"]["steps"] == 2000


def test_a_run_that_crashes_on_ray_goes_on_from_its_checkpoint(tmp_path, ray):
    (cell,) = cells(read(suite_file(tmp_path, seeds=[0])), tmp_path / "out")
    job = Job(cell, tmp_path / "logs" / "log")
    said, killed = [], []

    def crash(jobs, sentence):
        said.extend([sentence] if sentence else [])
        if not killed and any((cell.folder / "checkpoints").glob("*.json")):
            # The process is Ray's and not ours; its number is in the folder that it has locked.
            killed.append(int((cell.folder / "lock").read_text()))
            os.kill(killed[0], signal.SIGKILL)

    assert conduct([job], Cluster(1, 1, 0, ONE_CORE), retries=1, show=crash) is None
    assert killed
    assert (job.state, job.tries) == ("finished", 1)
    assert said == [
        "conveyor-rainbow-s0: started",
        "conveyor-rainbow-s0: ended by signal 9, is started again (1 of 1)",
        "conveyor-rainbow-s0: goes on from its checkpoint",
        "conveyor-rainbow-s0: finished",
    ]
    uninterrupted = train(cell.settings, tmp_path / "uninterrupted")
    mine, theirs = (
        {name: value for name, value in each.items() if name not in TIMES} for each in (job.summary, uninterrupted)
    )
    assert mine == theirs


def test_more_than_the_cluster_has_is_a_sentence(tmp_path, ray, run_ambs):
    code, _, err = run_ambs(
        "bench", suite_file(tmp_path), "--out", tmp_path / "out", "--on", "ray", "--gpus-per-run", 64
    )
    assert code == 2
    assert "every run is to have 64 of the resource GPU, and the whole Ray cluster has" in err


def test_without_ray_it_says_what_to_install(tmp_path, monkeypatch, run_ambs):
    monkeypatch.setitem(sys.modules, "ray", None)
    code, _, err = run_ambs("bench", suite_file(tmp_path), "--out", tmp_path / "out", "--on", "ray")
    assert code == 2
    assert err == "error: --on ray needs Ray, which is not installed; pip install 'ambs[ray]'.\n"


class RayError(Exception):
    pass


class TaskCancelledError(RayError):
    pass


def none(**does):
    """A Ray on which everything goes well but for what is given."""
    found = {
        "init": lambda **_: None, "cluster_resources": lambda: {"CPU": 8.0}, "cancel": lambda *_, **__: None,
        "remote": lambda **_: lambda _: types.SimpleNamespace(remote=lambda *_: "reference"),
        "wait": lambda references, timeout: (references, []), "get": lambda _: 0,
        "exceptions": types.SimpleNamespace(RayError=RayError, TaskCancelledError=TaskCancelledError),
    }  # fmt: skip
    return types.SimpleNamespace(**found | does)


def lost(*_, **__):
    raise RayError("the node is\ngone")


@pytest.mark.parametrize("where", ["wait", "get"])
def test_a_run_that_is_lost_is_told_in_its_log_and_ends_no_other(where, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", none(**{where: lost}))
    (cell,) = cells(read(suite_file(tmp_path, seeds=[0])), tmp_path / "out")
    job = Job(cell, tmp_path / "logs" / "log")
    conduct([job], Cluster(1, 1, 0, {}), retries=1, show=lambda *_: None)
    assert (job.state, job.tries) == ("failed", 1)
    assert job.last_words() == ["the run was lost: the node is gone"] * 2


def test_a_lost_run_whose_log_cannot_be_written_is_lost_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", none(get=lost))
    (cell,) = cells(read(suite_file(tmp_path, seeds=[0])), tmp_path / "out")
    (tmp_path / "log").mkdir()
    assert Cluster(1, 1, 0, {}).start(cell, tmp_path / "log").poll() == 1


@pytest.mark.parametrize(
    ("address", "where"),
    [("ray://head:10001", "the Ray cluster at ray://head:10001 (RAY_ADDRESS)"), (None, "Ray on this machine")],
)
@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Version mismatch:\n  there 2.1"),
        ConnectionError("no answer."),
        ValueError("bad"),
        RayError("gone"),
    ],
)
def test_a_cluster_that_cannot_be_used_is_a_sentence_that_names_it(address, where, error, monkeypatch):
    def init(**_):
        raise error

    monkeypatch.setitem(sys.modules, "ray", none(init=init))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if address is not None:
        monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(AmbsError) as refused:
        Cluster(1, 1, 0, {})
    said = str(refused.value)
    assert said.startswith(f"{where} cannot be used: {' '.join(str(error).split()).rstrip('.')}; see that it runs")
    assert "\n" not in said

"""On a real Ray, started here: runs finish, go on where they were stopped, and ask for no more than there is."""

import json
import os
import signal
import sys
import threading
import time

import pytest

from tests.bench.small import suite_file


@pytest.fixture
def ray(monkeypatch):
    """One core, in a cluster of its own, which ends with the test."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ambs[ray]'")
    monkeypatch.setenv("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
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

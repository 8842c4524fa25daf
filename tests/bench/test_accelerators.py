"""GPUs that a driver tells of: one run each, and one each run. The driver is played by a program of that name."""

import sys

import pytest

from ambs.bench import places
from ambs.bench.accelerators import accelerators
from ambs.commands.bench import Bench

TWO = "GPU 0: Some GPU (UUID: GPU-1)\n  MIG 1g Device 0: (UUID: MIG-1)\nGPU 1: Some GPU (UUID: GPU-2)\n"


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """One with four cores, a JAX that can use GPUs, and a driver that says what the test wants it to."""
    (tmp_path / "jax_cuda12_plugin-1.0.dist-info").mkdir()
    (tmp_path / "jax_cuda12_plugin-1.0.dist-info" / "METADATA").write_text("Name: jax-cuda12-plugin\nVersion: 1.0\n")
    points = "[jax_plugins]\nxla_cuda12 = jax_plugins.xla_cuda12\n"
    (tmp_path / "jax_cuda12_plugin-1.0.dist-info" / "entry_points.txt").write_text(points)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("JAX_PLATFORMS", raising=False)
    monkeypatch.setattr("ambs.commands.bench.cores", lambda: [0, 1, 2, 3])
    monkeypatch.setattr(places, "cores", lambda: [0, 1, 2, 3])

    def tells(text, code=0):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\n[ \"$*\" = -L ] || exit 9\nprintf '%s' '{text}'\nexit {code}\n")
        program.chmod(0o755)

    return tells


def devices(place, monkeypatch, runs):
    """Those of so many runs that are started one after the other and go on."""
    found = []

    class Running:
        pid = 0

        def poll(self):
            return None

    def start(arguments, log, environment, cores):
        found.append(environment.get("CUDA_VISIBLE_DEVICES"))
        return Running()

    monkeypatch.setattr(places, "start", start)
    cell = type("Cell", (), {"arguments": []})
    for _ in range(runs):
        place.start(cell, None)
    return found


def test_every_gpu_has_a_run_and_every_run_a_gpu(machine, monkeypatch):
    machine(TWO)
    place = Bench("conveyor")._place([], smoke=False)
    assert place.slots == 2
    assert devices(place, monkeypatch, 2) == ["0", "1"]
    # More of them, since they were asked for, share.
    place = Bench("conveyor", jobs=3)._place([], smoke=False)
    assert devices(place, monkeypatch, 3) == ["0", "1", "0"]
    # Fewer, likewise, have more of them.
    assert devices(Bench("conveyor", jobs=1)._place([], smoke=False), monkeypatch, 1) == ["0,1"]
    # And no more than there are cores for.
    assert Bench("conveyor", cpus_per_run=4)._place([], smoke=False).slots == 1


def test_without_gpus_every_core_has_a_run(machine, monkeypatch):
    place = Bench("conveyor")._place([], smoke=False)
    assert place.slots == 4
    assert devices(place, monkeypatch, 1) == [None]
    machine("NVIDIA-SMI has failed", code=9)
    assert accelerators() == []


def test_what_the_user_has_chosen_is_shared_out(machine, monkeypatch):
    machine(TWO)
    for given, expected in (("1", ["1"]), ("GPU-2, GPU-1", ["GPU-2", "GPU-1"]), ("", []), ("0,-1,1", ["0"])):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", given)
        assert accelerators() == expected
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert accelerators() == ["0", "1"]
    monkeypatch.setenv("JAX_PLATFORMS", "cuda,cpu")
    assert accelerators() == ["0", "1"]
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    assert accelerators() == []


def test_a_gpu_that_jax_cannot_use_is_none(machine, monkeypatch, tmp_path):
    machine(TWO)
    monkeypatch.setattr(sys, "path", [each for each in sys.path if each != str(tmp_path)])
    assert accelerators() == []

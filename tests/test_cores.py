"""The cores that we may use, also where the system does not say which."""

import os

from ambs.bench.places import Here
from ambs.commands.bench import Bench
from ambs.cores import cores
from ambs.envs.vector.make import _workers


def test_where_the_system_does_not_say_which_it_is_all_that_there_are(monkeypatch):
    """As on macOS, which has no `sched_getaffinity`."""
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    # With GPUs there are as many runs as there are of those.
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert cores() == [0, 1, 2]
    assert _workers("auto", 8, 1e9) == 3
    place = Bench("smoke", cpus_per_run=2)._place([], smoke=False)
    assert isinstance(place, Here)
    assert place.slots == 1
    assert Bench("smoke")._place([], smoke=False).slots == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == [0]


def test_elsewhere_it_is_those_that_this_process_was_given(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5, 2}, raising=False)
    assert cores() == [2, 5]

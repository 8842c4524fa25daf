"""Several devices compute what one does; they are forced on the host, in a process of its own."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ambs.agents.placement import Placement
from ambs.errors import AmbsError

FLAGS = "--xla_force_host_platform_device_count=4 --xla_backend_optimization_level=0"


def test_a_run_on_four_devices_is_the_run_on_one(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "tests.agents.several_devices", str(tmp_path)],
        env={**os.environ, "XLA_FLAGS": FLAGS, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    answer = json.loads(run.stdout)
    # Not over the four that there are, unless it is asked for: they are a CPU's.
    assert answer["spread"] == [1, 1, 4]
    one = answer["runs"].pop("one")
    assert one["counters"]["updates"] == 6
    for name, other in answer["runs"].items():
        assert other["counters"] == one["counters"], name
        for alone, together in zip(one["rows"], other["rows"], strict=True):
            assert together == pytest.approx(alone, rel=1e-3, abs=1e-4), name
        # Adam divides by the gradient's size, so that the last digit of a gradient near zero is a visible step.
        np.testing.assert_allclose(other["weights"], one["weights"], atol=5e-3)
        assert np.median(np.abs(np.subtract(other["weights"], one["weights"]))) < 1e-5
    # Sums in another order: the same to the last digit would be one device under another name.
    assert answer["runs"]["four"]["weights"] != one["weights"]


def test_batches_that_cannot_be_shared_out_are_refused():
    with pytest.raises(AmbsError, match="batch is 7, and cannot be shared out evenly over 2 devices"):
        Placement(7, 2)


def test_more_devices_than_there_are():
    with pytest.raises(AmbsError, match="devices is 8, and there are 1 of the kind cpu; ask for no more"):
        Placement(16, 8)

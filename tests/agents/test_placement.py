"""Several devices compute what one does; they are forced on the host, in a process of its own."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from ambs.agents.placement import Placement
from ambs.errors import AmbsError


def test_four_devices_learn_what_one_does():
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run(
        [sys.executable, "-m", "tests.agents.several_devices"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(run.stdout)
    one, four = answer["1"], answer["4"]
    assert (one["devices"], four["devices"]) == (1, 4)
    for alone, together in zip(one["rows"], four["rows"], strict=True):
        assert together == pytest.approx(alone, rel=2e-4, abs=1e-5)
    # Adam divides by the gradient's size, so that the last digit of a gradient near zero is a visible step.
    np.testing.assert_allclose(four["weights"], one["weights"], atol=2e-3)
    assert np.median(np.abs(np.subtract(four["weights"], one["weights"]))) < 1e-6


def test_batches_that_cannot_be_shared_out_are_refused():
    with pytest.raises(AmbsError, match="batch is 7, and cannot be shared out evenly over 2 devices"):
        Placement(7, ["first", "second"])

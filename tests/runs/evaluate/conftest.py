"""A small run, trained once: long enough to have checkpoints and learned weights, too short to be good."""

import pytest

from ambs.runs.dreamer import train
from ambs.runs.evaluate import load
from tests.runs.dreamer.small import small

# With a formula of its own, and one that the first steps break.
CONFIG = small(formula='!acid & !"belt"', seed=3, steps=320, checkpoint_every=160)


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "conveyor"
    train(CONFIG, path)
    return path


@pytest.fixture(scope="session")
def agent(run):
    return load(run)

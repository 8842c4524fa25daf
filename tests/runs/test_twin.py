"""The kept run that the example is compared with: it has to be the same agent, but for the shield."""

import json

from ambs.commands.train import Train, with_a_world
from ambs.commands.train_ambs import shielded
from ambs.commands.train_dreamer import configuration
from ambs.runs.dreamer.training import saved_options
from ambs.runs.twin import Twin


def example(**changes):
    command = with_a_world(Train(agent="ambs", **changes))
    config = shielded(configuration(command, command.dreamer), command, command.ambs)
    return json.loads(json.dumps(saved_options(config)))


def test_the_example_has_its_twin():
    """Fails when the defaults change and the twin was not made again: `python -m experiments.twin`."""
    config = example()
    assert (config["agent"], config["env_options"]) == ("ambs", {"observation": "image"})
    assert Twin.kept().is_of(config, config["steps"])
    assert Twin.kept().config["agent"] == "dreamer"


def test_other_runs_have_none():
    twin = Twin.kept()
    assert not twin.is_of(example(env="conveyor"), twin.config["steps"])
    assert not twin.is_of(example(), twin.config["steps"] + 1)
    assert twin.is_of(example(seed=7), twin.config["steps"])


def test_its_numbers_are_those_of_its_curve():
    twin = Twin.kept()
    steps = int(twin.curves.step[-1])
    row = twin.row(steps)
    assert row["violations"] == twin.curves.violations.sum() > 0
    assert row["episodes"] == twin.curves.episodes.sum()
    # The last 100 episodes: eight end together, so there are 13 such moments.
    late = twin.curves.returns[twin.curves.episodes > 0][-13:]
    assert min(late) < row["final_return"] < max(late)

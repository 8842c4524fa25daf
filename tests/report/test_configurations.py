"""Whether runs are seeds of one agent, by configurations as `ambs train` saves them."""

import dataclasses
import json

import pytest

from ambs.commands.chosen import chosen
from ambs.report.comparison import compare
from ambs.report.finding import find
from ambs.runs.as_before import left_out
from ambs.runs.dreamer.training import saved_options
from ambs.runs.options import flat
from tests.report import made

EPISODES = [(40, 1.0, 2), (100, 3.0, 4)]


def settings(words):
    return chosen(["train", "conveyor", "--steps", "100", "--prefill", "130", *words.split()]).settings()


def saved(words):
    return json.loads(json.dumps(saved_options(settings(words))))


def groups(tmp_path, *commands):
    """The agents that a report has of runs told these, two seeds each, and how many seeds of each."""
    for number, words in enumerate(commands):
        for seed in (2 * number, 2 * number + 1):
            made.folder(tmp_path / f"{number}-s{seed}", saved(f"{words} --seed {seed}"), EPISODES)
    found = compare(find([tmp_path])[0])
    return {agent: len(group) for (_, agent), group in found.groups.items()}, found.notes


@pytest.mark.parametrize(
    ("agent", "other", "names"),
    [
        ("rainbow", "--shield classical", ("0", "1")),
        ("dreamer", "--shield prescience", ("0", "1")),
        ("lag", "--cost-threshold 3", ("threshold not given", "threshold 3.0")),
        ("dreamer", "--pretrain 1000", ("pretrain 0", "pretrain 1000")),
        (
            "dreamer",
            "--dynamics-weight 3 --representation-weight 3",
            ("dynamics 0.5, representation 0.1", "dynamics 3.0, representation 3.0"),
        ),
        ("ambs", "--unsafe-ends", ("unsafe_ends false", "unsafe_ends true")),
        ("ambs", "--penalty critic", ("0", "1")),
        ("iqn", "--hold 4", ("hold 1", "hold 4")),
    ],
)
def test_an_option_that_is_saved_only_where_it_is_new_parts_runs(agent, other, names, tmp_path):
    found, notes = groups(tmp_path, f"--agent {agent}", f"--agent {agent} {other}")
    assert found == {f"{agent} ({name})": 2 for name in names}
    assert notes == []


@pytest.mark.parametrize("agent", ["dreamer", "ambs", "lag", "rainbow", "iqn"])
def test_seeds_are_one_agent_and_what_is_left_out_of_a_configuration_is_known(agent, tmp_path):
    assert groups(tmp_path, f"--agent {agent}") == ({agent: 2}, [])
    whole = settings(f"--agent {agent}")
    short = saved(f"--agent {agent}")
    every = json.loads(json.dumps({"agent": whole.agent, **dataclasses.asdict(whole)}))
    assert flat(short) | left_out(agent, short) == flat(every)
    assert left_out("mine", short) == {}


def of_a_suite(path, name, words, called):
    """A kept run, as `experiments.keep_bench` writes it; without a suite's name, if `called` is None."""
    settings = saved(words)
    curve = {"step": [50, 100], "return": [1.0, 3.0], "episodes": [1, 1], "violations": [2, 4]}
    kept = {"summary": made.summary(settings, EPISODES), "config": settings, "curve": curve, "name": called}
    path.mkdir(exist_ok=True)
    (path / f"{name}-s{settings['seed']}.json").write_text(json.dumps(kept))


def test_agents_of_suites_are_called_what_these_call_them(tmp_path):
    def named():
        return sorted({agent for _, agent in compare(find([tmp_path])[0]).groups})

    of_a_suite(tmp_path, "a", "--agent dreamer", "blind")
    of_a_suite(tmp_path, "b", "--agent ambs --criterion sound --explore 3", "careful")
    of_a_suite(tmp_path, "c", "--agent ambs --criterion paper --explore 5", "as-printed")
    assert named() == ["as-printed", "blind", "careful"]
    # Another suite calls one of them otherwise: names of suites say nothing there.
    of_a_suite(tmp_path, "d", "--agent ambs --criterion sound --explore 3 --seed 1", "cautious")
    assert named() == ["ambs (paper, explore 5)", "ambs (sound, explore 3)", "dreamer"]
    (tmp_path / "d-s1.json").unlink()
    # A run of no suite is there.
    of_a_suite(tmp_path, "e", "--agent dreamer --seed 1", None)
    assert named() == ["ambs (paper, explore 5)", "ambs (sound, explore 3)", "dreamer"]
    (tmp_path / "e-s1.json").unlink()
    # Two suites have one name for different agents.
    of_a_suite(tmp_path, "f", "--agent ambs --criterion latent --explore 3", "careful")
    assert "careful" not in named()


def test_runs_in_the_folder_of_a_bench_are_called_as_its_suite_has_it(tmp_path):
    runs = []
    for name, words in (("blind", "--agent dreamer"), ("careful", "--agent ambs --criterion sound")):
        made.folder(tmp_path / f"conveyor-{name}-s0", saved(words), EPISODES)
        runs.append({"name": f"conveyor-{name}-s0", "agent": name})
    (tmp_path / "bench.json").write_text(json.dumps({"runs": runs}))
    assert sorted({agent for _, agent in compare(find([tmp_path])[0]).groups}) == ["blind", "careful"]

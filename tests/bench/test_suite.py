"""Suites: ours are what they say, and mistakes in one are a sentence with the place."""

import dataclasses
from pathlib import Path

import pytest

from ambs.bench.cells import cells
from ambs.bench.suite import read, suites
from ambs.errors import AmbsError
from ambs.report.statistics import LEAST_SEEDS
from ambs.runs.dreamer.config import RunConfig
from ambs.runs.value import preset
from tests.bench.small import suite_file


@pytest.mark.parametrize("name", sorted(suites()))
def test_every_run_of_our_suites_is_one_that_train_takes(name, tmp_path):
    suite = read(name)
    found = cells(suite, tmp_path)
    assert len(found) == len(suite.games) * len(suite.agents) * len(suite.seeds)
    # Games differ in little, and to read a command line takes a moment.
    for cell in found:
        if cell.game == suite.games[-1].name:
            assert cell.settings.seed == cell.seed
            assert cell.settings.steps == cell.steps


def test_the_paper_is_its_five_games_and_agents_at_its_settings(tmp_path):
    suite = read("paper")
    assert [game.name for game in suite.games] == ["assault", "double-dunk", "enduro", "kung-fu-master", "seaquest"]
    found = {cell.agent: cell.settings for cell in cells(suite, tmp_path) if cell.game == "seaquest"}
    assert list(found) == ["dreamer", "ambs", "lag", "rainbow", "iqn"]
    assert {settings.steps for settings in found.values()} == {10_000_000}
    for name in ("dreamer", "ambs", "lag"):
        config = found[name]
        assert isinstance(config, RunConfig)
        assert (config.agent, config.learner.size, config.batch, config.length) == (name, "xl", 16, 64)
        assert (config.train_ratio, config.envs, config.capacity) == (64, 8, 1_000_000)
        assert config.learner.world_model.learning_rate == 1e-4
    shield = found["ambs"].shield
    assert (shield.criterion, shield.Delta, shield.epsilon, shield.traces) == ("paper", 0.1, 0.09, 512)
    assert shield.decides.max_samples == 512
    for name in ("rainbow", "iqn"):
        assert found[name] == preset(name, "seaquest", "paper")


def test_suites_of_one_seed_are_said_to_have_no_intervals():
    single = [name for name in sorted(suites()) if len(read(name).seeds) < LEAST_SEEDS and not read(name).smoke]
    assert single == ["paper", "paper-short"]
    documented = (Path(__file__).parents[2] / "docs" / "bench.md").read_text(encoding="utf-8")
    assert "`paper` and `paper-short` have one seed, so their report has single numbers: no intervals" in documented


def test_a_smoke_run_keeps_agent_preset_and_shield(tmp_path):
    suite = read("paper").only(["seaquest"])
    small, full = (cells(dataclasses.replace(suite, smoke=smoke), tmp_path) for smoke in (True, False))
    assert {cell.steps for cell in small} == {160}
    for one, other in zip(small, full, strict=True):
        assert one.settings.agent == other.settings.agent
        assert one.settings.shield == other.settings.shield
    assert small[0].settings.learner == replaced(full[0].settings.learner, size="debug", horizon=3)


def replaced(learner, size, horizon):
    behaviour = dataclasses.replace(learner.behaviour, horizon=horizon)
    return dataclasses.replace(learner, size=size, behaviour=behaviour)


def test_an_agents_options_come_before_a_games_and_those_before_all(tmp_path):
    path = suite_file(
        tmp_path,
        steps=100,
        options={"envs": 2, "units": 16, "prefill": 50},
        games={"a": {"env": "conveyor", "units": 32, "prefill": 60, "steps": 200, "option": ["slip=0.1", "size=5"]}},
        agents={"b": {"agent": "iqn", "prefill": 70, "tensorboard": False}},
    )
    (cell,) = (cell for cell in cells(read(path), tmp_path) if cell.seed == 1)
    assert cell.name == "a-b-s1"
    assert cell.told == (
        "train", "conveyor", "--agent", "iqn", "--steps", "200", "--envs", "2", "--units", "32", "--prefill", "70",
        "--option", "slip=0.1", "--option", "size=5", "--no-tensorboard",
    )  # fmt: skip
    assert cell.arguments[-4:] == ["--seed", "1", "--run", str(tmp_path / "a-b-s1")]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"agents": {"ramses": {}}}, 'agents.ramses: there is no agent "ramses"'),
        ({"agents": {"x": {"agent": "tabular"}}}, 'agents.x: there is no agent "tabular" for a suite; choose one of'),
        ({"games": {"seaquests": {}}}, 'games.seaquests: there is no environment "seaquests"; did you mean seaquest'),
        ({"games": {"conveyor": {"size": None}}}, "games.conveyor.size: it is None"),
        ({"games": {}}, "games: there has to be at least one"),
        ({"games": {"a/b": {"env": "conveyor"}}}, "games.a/b: a name is made of"),
        ({"agents": {"ambs": {"criterio": "paper"}}}, 'has no option "criterio" for a suite; did you mean criterion?'),
        ({"agents": {"rainbow": {"steps": 0}}}, "agents.rainbow.steps: it is 0"),
        ({"agents": ["rainbow"]}, "agents: it is ['rainbow'], and has to be names"),
        ({"options": {"seed": 1}}, 'options: `ambs train` has no option "seed"'),
        ({"seeds": [0, 0]}, "seeds: they are [0, 0], and there has to be at least one, and none twice"),
        ({"seeds": [-1]}, "seeds: a seed is -1"),
        ({"steps": "1e6"}, "steps: it is '1e6', and has to be a whole number"),
        ({"step": 5}, 'a suite has no "step"; did you mean steps?'),
        ({"smoke": "yes please"}, "smoke: it is 'yes please'"),
    ],
)
def test_a_mistake_is_a_sentence_with_its_place(changes, sentence, tmp_path):
    with pytest.raises(AmbsError) as error:
        read(suite_file(tmp_path, **changes))
    assert sentence in str(error.value)
    assert "mine.yaml" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("steps: 5\nsteps: 6\n", 'mine.yaml, line 2, column 1: "steps" is there twice.'),
        ("steps: [5\n", "mine.yaml, line 2, column 1"),
        ("? [a, b]\n: 5\n", "mine.yaml, line 1, column 3: found unhashable key."),
        ("- a\n", "it is ['a'], and has to be a suite"),
        ("steps: 5\n", 'the suite lacks "seeds"'),
        ("!!python/object:os.system {}\n", "mine.yaml, line 1, column 1"),
    ],
)
def test_what_is_no_suite_is_a_sentence(text, sentence, tmp_path):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(AmbsError) as error:
        read(str(tmp_path / "mine.yaml"))
    assert sentence in str(error.value)


def test_an_unknown_suite_and_unknown_names_list_the_known(tmp_path):
    with pytest.raises(
        AmbsError, match='no suite "papers"; choose one of conveyor, minatar, paper, paper-short, smoke'
    ):
        read("papers")
    with pytest.raises(AmbsError, match="there is no file nowhere.yaml"):
        read("nowhere.yaml")
    suite = read("minatar")
    with pytest.raises(AmbsError, match=r'no game or agent "pong"; .*minatar-seaquest.* agents dreamer, ambs, lag'):
        suite.only(["pong"])
    part = suite.only(["minatar-breakout", "lag", "iqn"])
    assert [game.name for game in part.games] == ["minatar-breakout"]
    assert [agent.name for agent in part.agents] == ["lag", "iqn"]
    assert suite.only(["lag"]).games == suite.games


def test_what_train_would_refuse_is_refused_before_anything_runs(tmp_path):
    (cell, _) = cells(read(suite_file(tmp_path, agents={"rainbow": {"size": "nano"}})), tmp_path)
    with pytest.raises(AmbsError, match="conveyor, rainbow: --size is an option of the agent dreamer"):
        _ = cell.settings
    (cell, _) = cells(read(suite_file(tmp_path, agents={"rainbow": {"batch": "many"}})), tmp_path)
    with pytest.raises(AmbsError, match=r"conveyor, rainbow: .*batch"):
        _ = cell.settings


def test_what_is_refused_leaves_no_folder(tmp_path, run_ambs):
    for agents, options in (({"rainbow": {"size": "nano"}}, ()), ({"rainbow": {}}, ("--retries", "-1"))):
        told = suite_file(tmp_path, agents=agents)
        assert run_ambs("bench", told, *options, "--out", str(tmp_path / "out"))[0] == 2
        assert not (tmp_path / "out").exists()

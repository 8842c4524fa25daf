"""`ambs train --agent dreamer` as a user meets it: the same run as from Python, and a sentence for what goes wrong."""

import dataclasses
import json
import os
import re
import resource
import signal
import threading
import time
import typing

import pytest

from ambs.commands.train import Train
from ambs.commands.train_dreamer import DreamerOptions, configuration
from ambs.commands.train_progress import duration, numbers, sentence
from ambs.runs.devices import cache_folder, forget, keep_compiled, without_threads
from ambs.runs.dreamer import RunConfig, Status, cpu_learner
from ambs.runs.storage import RunFolder, latest, read_config
from tests.runs.dreamer.small import FLAGS, rows, small


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("AMBS_CACHE", "")


def test_a_run_and_the_same_again(run_ambs, tmp_path):
    arguments = ["train", "conveyor", *FLAGS, "--seed", "4", "--run", tmp_path / "run"]
    code, out, err = run_ambs(*arguments, "--steps", "100", "--json")
    summary = json.loads(out)
    assert code == 0
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    required = [
        "env",
        "agent",
        "seed",
        "steps",
        "episodes",
        "violations",
        "best_return",
        "final_return",
        "wall_seconds",
        "cpu_seconds",
    ]
    assert set(required) <= summary.keys()
    assert [summary[key] for key in ("env", "agent", "seed", "steps", "size")] == [
        "conveyor",
        "dreamer",
        4,
        100,
        "debug",
    ]
    assert "compiling the first gradient step" in err
    assert "step 100 of 100" in err.splitlines()[-1]
    code, out, err = run_ambs(*arguments, "--steps", "100")
    assert code == 0
    assert "has its steps already" in err
    assert "100 steps, seed 4" in out
    code, out, err = run_ambs(*arguments, "--steps", "200", "--json")
    assert (code, json.loads(out)["steps"], json.loads(out)["updates"]) == (0, 200, (200 - 64) // 8)
    assert "goes on from step 100; steps was 100 and is now 200" in err
    assert json.loads(out)["wall_seconds"] >= summary["wall_seconds"]
    assert read_config(tmp_path / "run") == json.loads(json.dumps({"agent": "dreamer", **saved(steps=200, seed=4)}))


def saved(**changes):
    """The whole configuration but for what is left out, as in runs that were made before there was any of it."""
    values = dataclasses.asdict(small(**changes))
    first = ("env_options", "start", "devices", "pretrain", "hold", "guard")
    assert [values.pop(name) for name in first] == [{}, None, None, 0, 1, None]
    learner = values["learner"]
    assert (learner.pop("dynamics"), learner.pop("representation")) == (0.5, 0.1)
    assert (learner.pop("lagrangian"), learner.pop("steps_ahead")) == (None, 1)
    assert (learner.pop("grids"), learner.pop("images")) == ("codes", None)
    assert [learner[name].pop("second_decay") for name in ("world_model", "actor", "critic")] == [0.999] * 3
    return values


def test_stopped_by_sigterm(run_ambs, tmp_path):
    def stop():
        while not list(tmp_path.glob("checkpoints/*.json")):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=stop, daemon=True).start()
    code, out, err = run_ambs("train", *FLAGS, "--steps", "1000000", "--run", tmp_path)
    step = latest(tmp_path / "checkpoints")["step"]
    assert (code, out) == (143, "")
    assert err.splitlines()[-1] == f"interrupted at step {step:,}; the same command goes on."


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--map", "my.map"], ["--map is an option of the agent tabular, and this is dreamer"]),
        (["--prefill", "8"], ["prefill is 8", "first batch needs 16"]),
        (["--capacity", "8"], ["capacity is 8"]),
        (["--train-ratio", "0"], ["train_ratio is 0"]),
        (["--learning-rate", "-1"], ["the learning rate of the world model is -1"]),
        (["--actor-learning-rate", "nan"], ["the learning rate of the actor is nan"]),
        (["--dynamics-weight", "inf"], ["the weight of the dynamics loss is inf, and has to be a number above 0"]),
        (["--representation-weight", "nan"], ["the weight of the representation loss is nan"]),
        (["--pictures-weight", "0"], ["the weight of the pictures loss is 0"]),
        (["--entropy", "-1"], ["entropy is -1"]),
        (["--discount", "1"], ["discount is 1"]),
        (["--horizon", "0"], ["horizon is 0"]),
        (["--size", "huge"], ['no size "huge"', "nano"]),
        (["--workers", "many"], ['workers is "many"']),
        (["--seed", "-1"], ["seed is -1"]),
        (["--steps", "0"], ["steps is 0"]),
        (["--formula", "!lava"], ['no atom "lava"']),
        (["--formula", "P>=0.9 [ G<=30 !acid ]"], ["cannot be read off the labels of one state"]),
        (["conveyorr"], ["did you mean conveyor"]),
        (["--option", "observation"], ['--option is "observation", and has to be NAME=VALUE']),
        (["--option", "=image"], ["has to be NAME=VALUE"]),
        (["--option", "slip=0.1", "--option", "slip=0.2"], ["--option slip is given twice"]),
        (["--option", "obs=image"], ['conveyor takes no option "obs"; it takes map, slip, observation']),
        (["--option", "formula=!acid"], ["give it as formula, or --formula"]),
        (["--option", "slip=NaN"], ["the option 'slip' of the environment is nan, and has to be what JSON can hold"]),
        (["Blackjack-v1"], ["the observation is Tuple", "cannot be encoded", "FlattenObservation"]),
        (["tests.envs.foreign_worlds:Endless-v0"], ["have to be Discrete or a Box of floats with finite ends"]),
        (["tests.envs.foreign_worlds:Pond-labels-v0"], ["gives labels (deep, late) but no cost"]),
    ],
)
def test_mistakes_are_one_sentence_and_leave_nothing(run_ambs, tmp_path, arguments, words):
    code, out, err = run_ambs("train", *FLAGS, "--run", tmp_path / "run", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    for word in words:
        assert word in err
    assert not (tmp_path / "run").exists()


def test_options_of_dreamer_are_refused_by_tabular(run_ambs, tmp_path):
    for given in (["--batch", "4"], ["--no-tensorboard"], ["--preset", "cpu"]):
        code, _, err = run_ambs("train", "--agent", "tabular", "--run", tmp_path / "run", *given)
        assert code == 2
        assert "is an option of the agent dreamer, and this is tabular" in err
    assert not (tmp_path / "run").exists()


def test_folders_that_cannot_be_used(run_ambs, tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = run_ambs("train", *FLAGS, "--run", tmp_path / "file" / "run")
    assert code == 2
    assert "cannot be used: Not a directory; choose another folder with --run" in err
    with RunFolder.open(tmp_path / "run", {"agent": "dreamer", **saved()}):
        code, _, err = run_ambs("train", *FLAGS, "--steps", "600", "--run", tmp_path / "run")
    assert code == 2
    assert "is being written by another process" in err


def test_a_disk_that_is_full(run_ambs, tmp_path):
    arguments = ["train", *FLAGS, "--run", tmp_path / "run"]
    assert run_ambs(*arguments, "--steps", "100")[0] == 0
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may grow beyond this, and the arrays of a checkpoint are larger.
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
    try:
        code, _, err = run_ambs(*arguments, "--steps", "300")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert code == 2
    assert "the checkpoint of step 200 could not be written" in err
    assert "the one before it is intact" in err
    assert "Traceback" not in err
    assert latest(tmp_path / "run" / "checkpoints")["step"] == 100
    code, out, _ = run_ambs(*arguments, "--steps", "300", "--json")
    assert (code, json.loads(out)["steps"]) == (0, 300)


def test_a_truncated_checkpoint_is_a_warning(run_ambs, tmp_path):
    arguments = ["train", *FLAGS, "--run", tmp_path]
    run_ambs(*arguments, "--steps", "200")
    max((tmp_path / "checkpoints").glob("*.json")).write_text('{"step": 200, "fi')
    code, _, err = run_ambs(*arguments, "--steps", "300")
    assert code == 0
    assert re.search(r"^warning: the checkpoint .*000000000200.json is damaged, and the one before", err, re.MULTILINE)
    assert ".py:" not in err
    assert [row["step"] for row in rows(tmp_path, "scores")] == [200, 200]


def test_flags_are_the_options_of_the_configuration():
    assert configuration(Train("conveyor"), DreamerOptions()) == RunConfig()
    given = DreamerOptions(
        size="tiny", learning_rate=1e-2, actor_learning_rate=2e-2, critic_learning_rate=3e-2, entropy=0.1, discount=0.9,
        horizon=5, workers="3", envs=4, train_ratio=8.0, tensorboard=False,
        option=("frame_skip=3", "name=3-4", "text=\"3\"", "sizes=[1, 2]", "empty="),
    )  # fmt: skip
    config = configuration(Train("seaquest", steps=7000, seed=3, formula="!hit"), given)
    assert (config.env, config.steps, config.seed, config.formula) == ("seaquest", 7000, 3, "!hit")
    assert (config.workers, config.envs, config.train_ratio, config.tensorboard) == (3, 4, 8.0, False)
    assert config.env_options == {"frame_skip": 3, "name": "3-4", "text": "3", "sizes": [1, 2], "empty": ""}
    learner = config.learner
    rates = [getattr(learner, name).learning_rate for name in ("world_model", "actor", "critic")]
    assert rates == [1e-2, 2e-2, 3e-2]
    assert (learner.behaviour.entropy, learner.behaviour.discount, learner.behaviour.horizon) == (0.1, 0.9, 5)
    assert (learner.size, learner.starts) == ("tiny", cpu_learner("tiny").starts)
    paper = configuration(Train("conveyor"), DreamerOptions(preset="paper")).learner
    assert (paper.world_model.learning_rate, paper.starts, paper.size) == (1e-4, None, "nano")


def test_grids_are_codes_unless_told():
    learner = [
        configuration(Train("minatar-asterix"), DreamerOptions(grids=grids)).learner for grids in (None, "cells")
    ]
    assert [each.grids for each in learner] == ["codes", "cells"]
    preset = configuration(Train("minatar-asterix"), DreamerOptions(preset="cells", entropy=0.5)).learner
    assert (preset.grids, preset.actor.learning_rate, preset.behaviour.discount) == ("cells", 1e-3, 0.98)
    assert preset.behaviour.entropy == 0.5


def test_images_are_read_as_the_size_has_it_unless_told():
    def images(**given):
        return configuration(Train("seaquest"), DreamerOptions(**given)).learner.dimensions.images

    assert [images(), images(size="s"), images(size="s", images="patches")] == ["patches", "convolutions", "patches"]


def test_cells_are_trained_resumed_and_played_and_no_other_observation_has_them(run_ambs, tmp_path):
    command = ["train", "minatar-breakout", *FLAGS, "--grids", "cells", "--run", tmp_path / "run"]
    assert run_ambs(*command, "--steps", "100")[0] == 0
    code, out, _ = run_ambs(*command, "--steps", "132", "--json")
    assert (code, json.loads(out)["steps"]) == (0, 132)
    assert run_ambs("eval", tmp_path / "run", "--episodes", "1", "--json")[0] == 0
    code, _, err = run_ambs(*command, "--grids", "codes", "--steps", "140")
    assert code == 2
    assert 'learner.grids was "cells"' in err
    assert 'is now "codes"' in err
    code, _, err = run_ambs(*command, "--dynamics-weight", "3")
    assert code == 2
    assert "leave out --dynamics-weight" in err
    image = [
        "train",
        "conveyor",
        "--option",
        "observation=image",
        *FLAGS,
        "--grids",
        "cells",
        "--run",
        tmp_path / "none",
    ]
    code, _, err = run_ambs(*image)
    assert code == 2
    assert "no single grid" in err
    assert not (tmp_path / "none").exists()


def test_a_run_of_random_steps_alone_is_warned_of(run_ambs, tmp_path):
    code, out, err = run_ambs("train", *FLAGS, "--steps", "40", "--run", tmp_path / "run", "--json")
    assert (code, json.loads(out)["updates"]) == (0, 0)
    assert "all of the 40 steps are random ones, since there are 64 of those to begin with" in err


def test_the_help_names_the_defaults(run_ambs):
    """What is not given is None there, so the text has to say what it will be."""
    code, out, _ = run_ambs("train", "--help")
    text = re.sub(r"[│\s]+", " ", out)
    assert code == 0
    config = RunConfig()
    said = {**dataclasses.asdict(config), **dataclasses.asdict(config.learner.behaviour), "size": config.learner.size}
    for name in typing.get_type_hints(DreamerOptions):
        flag = f"--{name.replace('_', '-')} "
        assert flag in text or f"{flag.strip()}, " in text
        if said.get(name) is not None and name != "tensorboard":
            value = f"{said[name]:g}" if isinstance(said[name], float) else str(said[name])
            assert f"{value} if not given" in text[text.index(flag) :][:250], name


def test_what_is_shown():
    status = Status("learning", 500, 2000, 3, 17, 40, 1.25)
    assert numbers(status, 10.0) == "return 1.25, 17 violations, 10 steps/s, 0:02:30 left"
    assert sentence(status, None) == "step 500 of 2,000, return 1.25, 17 violations"
    assert "compiling" in sentence(status._replace(doing="compiling"), None)
    pretraining = status._replace(doing="pretraining", due=600)
    assert sentence(pretraining, None) == "step 500: update 40 of 600 before the agent acts"
    assert duration(3725.4) == "1:02:05"


def test_programs_that_were_not_used_for_longest_are_forgotten(tmp_path):
    for age in range(5):
        path = tmp_path / f"{age}-cache"
        path.write_bytes(bytes(100))
        os.utime(path, (1e9 - age, 1e9 - 100))
    forget(tmp_path, 300)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0-cache", "1-cache", "2-cache"]
    forget(tmp_path / "not there", 300)


def test_where_compiled_programs_are_kept(monkeypatch, tmp_path):
    assert cache_folder() is None
    keep_compiled()
    monkeypatch.setenv("AMBS_CACHE", str(tmp_path / "mine"))
    assert cache_folder() == tmp_path / "mine"
    monkeypatch.delenv("AMBS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "ambs" / "xla"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "ambs" / "xla"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "--xla_cpu_multi_thread_eigen=false"),
        ("--xla_a=1", "--xla_a=1 --xla_cpu_multi_thread_eigen=false"),
        ("--xla_cpu_multi_thread_eigen=true", "--xla_cpu_multi_thread_eigen=true"),
    ],
)
def test_small_networks_do_without_threads(monkeypatch, before, after):
    monkeypatch.setenv("XLA_FLAGS", before)
    without_threads()
    assert os.environ["XLA_FLAGS"] == after

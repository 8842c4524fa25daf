"""Runs on disk: what is a run, what is not, and one that is read while it is written."""

import dataclasses
import json
import shutil
import threading

import equinox as eqx
import jax
import numpy as np
import pytest
from safetensors.numpy import load_file

import ambs
from ambs.agents.learner import Learner
from ambs.agents.player import ActionCodec
from ambs.runs.dreamer.saved import config_of, rebuilt
from ambs.runs.storage import RunFolder, checkpoint, save
from ambs.world_model.parts import parts_of
from tests.runs.evaluate.conftest import CONFIG


@pytest.fixture
def copied(run, tmp_path):
    shutil.copytree(run, tmp_path / "copy")
    return tmp_path / "copy"


def change(path, edit):
    config = json.loads((path / "config.json").read_text())
    edit(config)
    (path / "config.json").write_text(json.dumps(config))


@dataclasses.dataclass(frozen=True)
class Inner:
    sizes: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Outer:
    inner: Inner | None
    other: Inner
    name: str | None = None


def test_dataclasses_come_back_as_they_were():
    for value in (Outer(Inner((1, 2)), Inner(())), Outer(None, Inner((3,)), "x")):
        assert rebuilt(Outer, json.loads(json.dumps(dataclasses.asdict(value))), "here") == value


def test_the_configuration_comes_back_as_it_was(run):
    assert config_of(run) == CONFIG


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda config: config.pop("envs"), 'lacks the option "envs": the run was made by another version'),
        (lambda config: config.update(magic=1), 'has the option "magic": the run was made by another version'),
        (lambda config: config["learner"]["actor"].update(magic=1), 'has the option "magic"'),
        (lambda config: config["learner"].pop("size"), 'lacks the option "size"'),
        (lambda config: config.update(agent="tabular"), "is a run of the tabular agent"),
        (lambda config: config.update(env="conveyer"), "did you mean conveyor"),
        (lambda config: config["learner"].update(size="nano"), "it is of another size or agent"),
    ],
)
def test_a_run_that_is_not_as_it_should_be(copied, edit, words):
    change(copied, edit)
    with pytest.raises(ambs.AmbsError) as error:
        ambs.load(copied)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_no_run_is_one_sentence(tmp_path):
    with pytest.raises(ambs.AmbsError, match=r"nowhere is not a run: it has no config\.json"):
        ambs.load(tmp_path / "nowhere")
    with pytest.raises(ambs.AmbsError, match=r"the run is 5, and has to be the folder"):
        ambs.load(5)
    # What `ambs train` leaves of the tabular agent.
    (tmp_path / "summary.json").write_text("{}")
    with pytest.raises(ambs.AmbsError, match="is a run of the tabular agent"):
        ambs.load(tmp_path)


def test_a_run_without_a_checkpoint_is_one_sentence(tmp_path):
    RunFolder.open(tmp_path / "new", dataclasses.asdict(CONFIG)).close()
    with pytest.raises(ambs.AmbsError, match="has no good checkpoint yet"):
        ambs.load(tmp_path / "new")


def test_a_damaged_checkpoint_is_passed_over(copied):
    newest = max((copied / "checkpoints").glob("*.safetensors"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with pytest.warns(UserWarning, match="is damaged"):
        assert ambs.load(copied).step == 160


def test_a_checkpoint_that_is_removed_while_it_is_read(copied, monkeypatch):
    """As a training run does, of those that are no longer among its last two."""

    def removed_just_now(path):
        for spoilt in (path, path.with_name("000000000320.json")):
            spoilt.unlink()
        monkeypatch.undo()
        return load_file(path)

    monkeypatch.setattr(checkpoint, "load_file", removed_just_now)
    assert ambs.load(copied).step == 160


def test_a_run_is_read_while_it_is_written(tmp_path):
    """Locked by the one who trains, with checkpoints that come and go all the time."""
    env = ambs.make("conveyor")
    codec, parts = ActionCodec(env.action_space), parts_of(env.observation_space)
    create = eqx.filter_jit(Learner.create)
    learner = create(parts, codec.size, CONFIG.learner, discrete=True, key=jax.random.key(0))
    stop, steps = threading.Event(), []

    def write(folder):
        step = 0
        while not stop.is_set():
            step += 1
            marked = jax.tree.map(lambda leaf, step=step: np.full_like(leaf, step), learner)
            save(folder.checkpoints, step, {"learner": marked, "key": jax.random.key(0)}, {})

    with RunFolder.open(tmp_path / "busy", dataclasses.asdict(CONFIG)) as folder:
        save(folder.checkpoints, 0, {"learner": learner, "key": jax.random.key(0)}, {})
        writer = threading.Thread(target=write, args=(folder,))
        writer.start()
        try:
            while len(set(steps)) < 3:
                loaded = ambs.load(folder.path)
                steps.append(loaded.step)
                if loaded.step:
                    # All of one checkpoint.
                    assert {float(np.ptp(leaf)) for leaf in jax.tree.leaves(loaded.saved.learner.task.actor)} == {0.0}
                    assert float(loaded.saved.learner.model.rssm.initial_h[0]) == loaded.step
        finally:
            stop.set()
            writer.join()
    assert steps == sorted(steps)

"""A run's folder is one process's at a time, and goes on with the options it began with."""

import json

import pytest

from ambs import AmbsError
from ambs.runs.storage import RunFolder, compare, read_config
from tests.runs.storage.processes import CONTEXT

CONFIG = {"env": "conveyor", "steps": 1000, "seed": 0, "model": {"size": "debug", "units": (8, 8)}, "formula": None}


def test_what_differs_by_dotted_name():
    now = {**CONFIG, "steps": 2000, "model": {"size": "nano", "units": (8, 8), "bins": 255}}
    del now["formula"]
    assert compare(CONFIG, now) == {
        "steps": (1000, 2000),
        "model.size": ("debug", "nano"),
        "model.bins": ("absent", 255),
        "formula": (None, "absent"),
    }
    assert compare(CONFIG, CONFIG) == {}


def test_an_option_that_is_as_it_was_before_there_was_one_does_not_differ():
    assert compare(CONFIG, {**CONFIG, "pretrain": 0, "learner": {"steps_ahead": 1}}) == {}
    assert compare({**CONFIG, "pretrain": 0}, CONFIG) == {}
    assert compare(CONFIG, {**CONFIG, "pretrain": 5}) == {"pretrain": (0, 5)}


def test_a_new_run_and_the_same_again(tmp_path):
    with RunFolder.open(tmp_path / "a" / "run", CONFIG) as run:
        assert (run.resumed, run.changed) == (False, {})
        assert run.checkpoints.parent == run.replay.parent == run.path
    assert read_config(run.path) == json.loads(json.dumps(CONFIG))
    with RunFolder.open(run.path, CONFIG) as run:
        assert (run.resumed, run.changed) == (True, {})


def test_an_option_that_may_change_is_honoured_and_saved(tmp_path):
    RunFolder.open(tmp_path, CONFIG).close()
    with RunFolder.open(tmp_path, {**CONFIG, "steps": 5000}) as run:
        assert run.changed == {"steps": (1000, 5000)}
    assert read_config(tmp_path)["steps"] == 5000
    with RunFolder.open(tmp_path, {**CONFIG, "steps": 5000, "seed": 1}, may_change={"seed"}) as run:
        assert run.changed == {"seed": (0, 1)}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"seed": 1, "steps": 2000}, "^seed was 0 when the run .* was started and is now 1; leave it as it was, or"),
        ({"model": {"size": "nano", "units": [8, 8]}}, '^model.size was "debug" .* is now "nano"'),
        ({"model": {"size": "debug", "units": [8, 9]}}, r"^model.units was \[8, 8\] .* is now \[8, 9\]"),
        ({"new": 1}, '^new was "absent" when'),
        ({"formula": "!acid"}, '^formula was null when .* is now "!acid"'),
    ],
)
def test_other_options_are_refused_and_nothing_is_changed(tmp_path, change, sentence):
    RunFolder.open(tmp_path, CONFIG).close()
    with pytest.raises(AmbsError, match=sentence):
        RunFolder.open(tmp_path, CONFIG | change)
    with RunFolder.open(tmp_path, CONFIG) as run:
        assert run.changed == {}, "and the folder is free again"


def hold(folder, started):
    RunFolder.open(folder, CONFIG)
    started.set()
    CONTEXT.Event().wait()


def test_two_processes_do_not_write_to_one_run(tmp_path):
    started = CONTEXT.Event()
    other = CONTEXT.Process(target=hold, args=(tmp_path, started), daemon=True)
    other.start()
    try:
        assert started.wait(60)
        with pytest.raises(AmbsError, match=f"{tmp_path} is being written by another process .number {other.pid}.;"):
            RunFolder.open(tmp_path, CONFIG)
    finally:
        other.kill()
        other.join()
    # Killed, it holds nothing.
    RunFolder.open(tmp_path, CONFIG).close()


def test_two_of_one_process_neither(tmp_path):
    with RunFolder.open(tmp_path, CONFIG), pytest.raises(AmbsError, match="is being written"):
        RunFolder.open(tmp_path, CONFIG)


def test_a_start_that_was_cut_short(tmp_path):
    (tmp_path / "lock").write_text("123\n")
    (tmp_path / "config.json.partial").write_text('{"en')
    with RunFolder.open(tmp_path, CONFIG) as run:
        assert not run.resumed


def test_folders_that_are_no_runs(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(AmbsError, match=f"{tmp_path} is neither a run nor empty; choose another folder"):
        RunFolder.open(tmp_path, CONFIG)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    for path, reason in [(tmp_path / "thesis.tex", "File exists"), (tmp_path / "thesis.tex" / "a", "Not a directory")]:
        with pytest.raises(AmbsError, match=f"cannot be used: {reason}; choose another folder"):
            RunFolder.open(path, CONFIG)
    with pytest.raises(AmbsError, match="is not a run: it has no config.json"):
        read_config(tmp_path)


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    """By whatever reason: the tests may run as one who may write everywhere."""
    import ambs.runs.storage.folder as module

    def refuse(path, text):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "write_text", refuse)
    with pytest.raises(AmbsError, match="cannot be used: Permission denied"):
        RunFolder.open(tmp_path, CONFIG)
    monkeypatch.undo()
    RunFolder.open(tmp_path, CONFIG).close()


@pytest.mark.parametrize("text", ["", "{", "[]", "3"])
def test_a_configuration_that_is_none(tmp_path, text):
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(AmbsError, match="config.json (cannot be read|is not the configuration)"):
        RunFolder.open(tmp_path, CONFIG)

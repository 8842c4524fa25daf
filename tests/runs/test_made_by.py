"""What made a run is told in its summary, and is never the reason that there is none."""

import json
import platform
import socket
import subprocess
from pathlib import Path

import jax
import pytest

import ambs
from ambs.runs import made_by as module
from ambs.runs.dreamer import train as train_dreamer
from ambs.runs.made_by import and_now, made_by, makers, told
from ambs.runs.storage import latest
from ambs.runs.value import train
from tests.runs.dreamer.small import small as small_dreamer
from tests.runs.value.small import small

FIELDS = {"ambs", "commit", "changed", "python", "jax", "machine"}


def git(folder, *words):
    told = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org", *words]
    return subprocess.run(told, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def package(tmp_path):
    """A checkout with the package in it."""
    found = tmp_path / "checkout" / "src" / "ambs"
    found.mkdir(parents=True)
    (found / "__init__.py").touch()
    git(tmp_path / "checkout", "init", "-q")
    git(tmp_path / "checkout", "add", ".")
    git(tmp_path / "checkout", "commit", "-q", "-m", "first")
    return found


def test_the_commit_is_told_and_whether_the_source_was_changed_since(package, monkeypatch):
    head = git(package, "rev-parse", "--short", "HEAD")
    # As in a hook of Git, which is of another repository.
    monkeypatch.setenv("GIT_DIR", str(package / "nowhere"))
    assert module._source(package) == (head, False)
    # What is not the source does not count.
    (package.parents[1] / "notes.md").touch()
    assert module._source(package) == (head, False)
    (package / "__init__.py").write_text("changed = True")
    assert module._source(package) == (head, True)


def test_a_package_in_the_folder_of_another_project_has_no_commit(package):
    (package.parents[1] / ".gitignore").write_text(".venv\n")
    installed = package.parents[1] / ".venv" / "ambs"
    installed.mkdir(parents=True)
    (installed / "__init__.py").touch()
    assert module._source(installed) == (None, None)


def test_without_git_there_is_no_commit_and_no_error(package, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert module._source(package) == (None, None)
    monkeypatch.undo()
    monkeypatch.setattr(module, "_SECONDS", 0.0)
    assert module._source(package) == (None, None)
    assert module._source(package / "nowhere") == (None, None)


def test_it_says_versions_and_machine_and_neither_host_nor_path():
    found = made_by()
    assert found.keys() == FIELDS
    assert (found["ambs"], found["python"]) == (ambs.__version__, platform.python_version())
    assert found["jax"] == jax.__version__
    assert found["machine"].keys() == {"cpu", "cores", "may_use", "device"}
    assert 1 <= found["machine"]["may_use"] <= found["machine"]["cores"]
    text = json.dumps(found)
    assert str(Path.home()) not in text
    assert str(Path(ambs.__file__).parents[2]) not in text
    assert f'"{socket.gethostname()}' not in text


def test_every_family_of_runs_tells_it(tmp_path):
    config = small(steps=60)
    now = made_by()
    summary = train(config, tmp_path / "value")
    assert summary["made_by"] == now
    assert json.loads((tmp_path / "value" / "summary.json").read_text())["made_by"] == now
    assert "made_by" not in json.loads((tmp_path / "value" / "config.json").read_text())
    assert train_dreamer(small_dreamer(steps=80), tmp_path / "dreamer")["made_by"] == now


def test_a_run_that_others_began_names_them_and_one_that_is_finished_keeps_its_own(tmp_path, monkeypatch):
    now = made_by()
    other = {**now, "ambs": "0.0.1", "commit": "abc1234"}
    monkeypatch.setattr(module, "made_by", lambda: other)
    assert train(small(steps=60), tmp_path)["made_by"] == other
    monkeypatch.undo()
    # Whoever asks for what is there already has made nothing.
    assert train(small(steps=60), tmp_path)["made_by"] == other
    assert train(small(steps=120), tmp_path)["made_by"] == {**now, "earlier": [other]}
    assert latest(tmp_path / "checkpoints")["extra"]["made_by"] == [other, now]
    # A third time by the same is no third maker.
    assert train(small(steps=180), tmp_path)["made_by"] == {**now, "earlier": [other]}


def test_the_command_is_told_and_another_of_the_same_maker_is_no_other_maker(tmp_path):
    now = made_by()
    assert train(small(steps=60), tmp_path, command="ambs train a")["made_by"] == {**now, "command": "ambs train a"}
    # Whoever asks for what is there already has made nothing.
    assert train(small(steps=60), tmp_path, command="ambs train b")["made_by"]["command"] == "ambs train a"
    more = train(small(steps=120), tmp_path, command="ambs train a --steps 120")["made_by"]
    assert more == {**now, "command": "ambs train a --steps 120"}


def test_a_run_of_a_version_that_did_not_tell():
    old = {"extra": {}}
    assert told(makers(old)) == {}
    assert told(and_now(makers(old)))["made_by"]["earlier"] == [None]
    assert "earlier" not in told(and_now(makers(None)))["made_by"]

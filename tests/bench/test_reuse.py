"""Runs of earlier work in the place of a bench's own: the same ones only, and never written to."""

import json

import pytest

from ambs.bench.cells import cells
from ambs.bench.conduct import Job, conduct
from ambs.bench.reuse import reuse
from ambs.bench.suite import read
from ambs.errors import AmbsError
from tests.bench.small import finish, suite_file


class Pretended:
    """A place where a run is at its end at once; it keeps to the folder that it is given, as a real one would."""

    slots = 1

    def start(self, cell, log):
        self.through_link = cell.folder.is_symlink()
        finish(cell, cell.folder)
        return self

    def poll(self):
        return 0

    def stop(self):
        """It has ended."""

    def kill(self):
        """It has ended."""


@pytest.fixture
def cell(tmp_path):
    return cells(read(suite_file(tmp_path, seeds=[0])), tmp_path / "out")[0]


@pytest.fixture
def earlier(cell, tmp_path):
    finish(cell, tmp_path / "earlier" / "mine")
    return tmp_path / "earlier"


def changed(tmp_path, out="other", **changes):
    return cells(read(suite_file(tmp_path, seeds=[0], **changes)), tmp_path / out)[0]


def test_a_finished_run_with_another_learning_rate_is_another_run(cell, earlier, tmp_path):
    other = changed(tmp_path, agents={"rainbow": {"learning-rate": 0.01}})
    assert reuse([cell], [earlier]) == {cell.name: earlier / "mine"}
    assert reuse([other], [earlier]) == {}
    in_its_place = changed(tmp_path, out="out", agents={"rainbow": {"learning-rate": 0.01}})
    with pytest.raises(AmbsError, match=r"is another run: there learner.optimiser.learning_rate is 0.0005"):
        in_its_place.summary()
    # One that has not all its steps may go on so, as with `ambs train`.
    (earlier / "mine" / "summary.json").unlink()
    assert in_its_place.summary() is None


def test_a_run_that_is_linked_to_is_never_trained_on(cell, earlier, tmp_path):
    reuse([cell], [earlier])
    before = {path.name: path.read_text() for path in (earlier / "mine").iterdir()}
    longer = changed(tmp_path, out="out", steps=800)
    assert longer.folder == cell.folder
    assert longer.folder.is_symlink()
    place, said, job = Pretended(), [], Job(longer, tmp_path / "log", summary=longer.summary())
    conduct([job], place, retries=0, show=lambda _, sentence: said.append(sentence))
    assert not place.through_link
    assert (job.state, job.summary["steps"]) == ("finished", 800)
    assert {path.name: path.read_text() for path in (earlier / "mine").iterdir()} == before
    assert any("is no run of 800 steps, and is left as it is" in sentence for sentence in said)


def test_a_link_that_will_not_do_gives_way_to_one_that_does(cell, earlier, tmp_path):
    cell.folder.parent.mkdir()
    # To a run that was removed, and to one that is too short.
    finish(changed(tmp_path, steps=200), tmp_path / "short")
    for target in (tmp_path / "nowhere", tmp_path / "short"):
        cell.folder.symlink_to(target, target_is_directory=True)
        assert cell.summary() is None
        assert reuse([cell], [earlier]) == {cell.name: earlier / "mine"}
        assert cell.folder.resolve() == (earlier / "mine").resolve()
        assert reuse([cell], [earlier]) == {}
        cell.folder.unlink()


def test_a_link_to_a_run_that_was_removed_is_no_obstacle(cell, tmp_path):
    cell.folder.parent.mkdir()
    cell.folder.symlink_to(tmp_path / "nowhere", target_is_directory=True)
    job = Job(cell, tmp_path / "log", summary=cell.summary())
    conduct([job], Pretended(), retries=0, show=lambda *_: None)
    assert job.state == "finished"
    assert not cell.folder.is_symlink()


def test_a_plan_counts_what_would_be_reused_and_links_nothing(cell, earlier, tmp_path, run_ambs):
    told = ("bench", suite_file(tmp_path, seeds=[0]), "--out", tmp_path / "out", "--dry-run", "--json")
    states = []
    for more in ((), ("--reuse", earlier)):
        code, said, _ = run_ambs(*told, *more)
        assert code == 0
        states += [run["state"] for run in json.loads(said)["runs"]]
    assert states == ["waiting", "finished"]
    assert not cell.folder.exists()


def test_steps_of_a_smoke_test_are_refused(tmp_path, run_ambs):
    code, _, err = run_ambs("bench", suite_file(tmp_path), "--out", tmp_path / "out", "--smoke", "--steps", 500)
    assert code == 2
    assert "--steps is 500, and every run of a smoke test has 160" in err

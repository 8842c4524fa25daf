"""`ambs eval`: what is printed is what is written, the film plays, and mistakes are one sentence."""

import json
import shutil

import imageio_ffmpeg
import pytest

from ambs.envs import Conveyor
from ambs.runs.evaluate import evaluate

# Three environments, as in the other tests: what was compiled for them is used again.
FEW = ("--episodes", "4", "--envs", "3")


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    """The user's own cache of compiled programs is left alone."""
    monkeypatch.setenv("AMBS_CACHE", "")


@pytest.fixture
def own(run, tmp_path):
    """A copy of the run, to write into."""
    return shutil.copytree(run, tmp_path / "own")


def frames(path):
    film = imageio_ffmpeg.read_frames(str(path))
    return next(film)["size"], sum(1 for _ in film)


def test_the_answer_is_printed_and_written(run_ambs, own, agent):
    code, out, err = run_ambs("eval", own, *FEW, "--json")
    assert (code, err) == (0, "")
    answer = json.loads(out)
    written = own / "evaluations" / "320-1000.json"
    assert json.loads(written.read_text()) == answer
    assert answer == json.loads(json.dumps(evaluate(agent, episodes=4, envs=3).as_json()))
    code, out, _ = run_ambs("eval", own, *FEW, "--deterministic", "--seed", "7", "--out", own / "new" / "mine.json")
    assert code == 0
    assert "conveyor, agent after 320 steps, 4 episodes of seed 7, deterministic" in out
    mine = json.loads((own / "new" / "mine.json").read_text())
    assert (mine["seed"], mine["deterministic"], mine["episodes"]) == (7, True, 4)
    assert f"{mine['violations']} violations in 400 steps" in out
    # Both ways of acting under one seed have a file of their own.
    run_ambs("eval", own, *FEW, "--deterministic")
    assert {path.name for path in (own / "evaluations").iterdir()} == {"320-1000.json", "320-1000-deterministic.json"}
    assert not list(own.rglob("*.partial"))


def test_the_film_is_where_it_is_asked_for(run_ambs, own):
    code, out, err = run_ambs("eval", own, *FEW, "--video")
    assert (code, err) == (0, "")
    beside = own / "evaluations" / "320-1000.mp4"
    assert f"wrote  {beside}" in out.replace("\n", "")
    size, count = frames(beside)
    # A hundred steps and the reset.
    assert count == 101
    assert min(size) > 400
    code, _, _ = run_ambs("eval", own, *FEW, "--video", own / "films" / "two.mp4", "--video-episodes", "2")
    assert code == 0
    assert frames(own / "films" / "two.mp4")[1] == 202


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--episodes", "0"], "episodes is 0"),
        (["--envs", "0"], "envs is 0"),
        (["--seed", "-1"], "the seed is -1"),
        (["--seed", "3"], "the seed is 3, with which the run was trained"),
        (["--video", "film.avi"], "--video is film.avi, and has to end in .mp4"),
        (["--video", "a.mp4", "b.mp4"], "--video has 2 files"),
        (["--video", "--video-episodes", "0"], "video-episodes is 0"),
        (["--video", "config.json/a.mp4"], "Not a directory"),
        (["--out", "replay"], "replay is a folder"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_no_file(run_ambs, own, monkeypatch, arguments, words):
    monkeypatch.chdir(own)
    before = sorted(own.rglob("*"))
    code, out, err = run_ambs("eval", own, *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert sorted(own.rglob("*")) == before


def test_what_is_no_run(run_ambs, tmp_path):
    code, out, err = run_ambs("eval", tmp_path / "none")
    assert (code, out) == (2, "")
    assert "none is not a run" in err
    assert not list(tmp_path.iterdir())


def test_an_environment_that_draws_nothing(run_ambs, own, monkeypatch):
    monkeypatch.setattr(Conveyor, "metadata", {"render_modes": []})
    code, _, err = run_ambs("eval", own, "--video")
    assert code == 2
    assert "conveyor draws no picture, so it cannot be filmed; leave out --video." in err
    assert not (own / "evaluations").exists()

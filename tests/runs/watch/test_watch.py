"""Watching: what is drawn is what happened, and the files are there and can be played."""

import itertools
import json

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

import ambs
from ambs.envs import CATALOGUE
from ambs.envs.scripted import _CYCLES, action_names, scripted
from ambs.runs.watch import drawing
from ambs.runs.watch.moments import Moment, moments
from ambs.runs.watch.occasions import VIOLATION, Occasions
from ambs.runs.watch.panel import FRAME_WIDTH, Panel


def rgb(colour):
    return np.array(list(bytes.fromhex(colour[1:])))


def moment(time=0, labels=None, rising=(), cost=0.0):
    labels = {"acid": False, "belt": False} | dict(labels or {})
    return Moment(np.full((20, 30, 3), 77, np.uint8), time, 1, time, "up", 0.0, 0.0, labels, frozenset(rising), cost, 0)


def filmed(policy="random", steps=250, seed=0):
    env = ambs.make("conveyor", render_mode="rgb_array")
    acts = scripted(CATALOGUE["conveyor"], env)
    if policy == "random":
        env.action_space.seed(1)

        def acts(_observation, _info):
            return env.action_space.sample()

    return list(moments(env, acts, action_names(CATALOGUE["conveyor"]), steps, seed))


def test_moments_are_the_steps_and_the_resets():
    seen = filmed()
    assert [one.time for one in seen if one.step == 0] == [0, 100, 200]
    assert [one.time for one in seen if one.step > 0] == list(range(1, 251))
    assert {one.action for one in seen if one.step == 0} == {"reset"}
    assert seen[-1].violations == sum(one.cost > 0 for one in seen)
    assert seen[-1].episode == 3
    for before, after in itertools.pairwise(seen):
        expected = {a for a, true in after.labels.items() if true and (after.step == 0 or not before.labels[a])}
        assert after.rising == expected
        assert after.total_reward == (0 if after.step == 0 else before.total_reward + after.reward)
        assert after.reward == after.labels["goal"]


def test_occasions_are_the_rises_with_their_neighbours():
    occasions = Occasions(["acid", "belt"])
    for time in range(12):
        rising = {3: ["belt"], 6: ["belt"], 8: ["belt"], 11: ["acid"]}.get(time, [])
        occasions.see(moment(time, rising=rising, cost=10.0 * (time in (5, 11))))
    assert [[one.time for one in occasion.moments] for occasion in occasions.of("belt")] == [
        [1, 2, 3, 4, 5],
        [4, 5, 6, 7, 8],
    ]
    assert [occasion.moments[occasion.at].time for occasion in occasions.of("belt")] == [3, 6]
    # At the end of the film there is no more to come.
    (last,) = occasions.of("acid")
    assert ([one.time for one in last.moments], last.at) == ([9, 10, 11], 2)
    # The violation at 11 is on the sheet as the acid's.
    (violation,) = occasions.of(VIOLATION)
    assert violation.moments[violation.at].time == 5
    assert occasions.counts == {"belt": 3, "acid": 1, VIOLATION: 2}


def test_the_panel_shows_labels_verdict_and_frame():
    panel = Panel("conveyor", "random", ["acid", "belt"], "!acid")
    dark = panel.draw(moment(0)).astype(int)
    lit = panel.draw(moment(1, {"belt": True}, ["belt"])).astype(int)
    broken = panel.draw(moment(2, {"acid": True}, ["acid"], 10.0)).astype(int)
    width, height = panel.size
    assert dark.shape == (height, width, 3)
    assert (width % 2, height % 2) == (0, 0)

    def has(picture, colour):
        return int((picture == rgb(colour)).all(axis=2).sum())

    assert (has(dark, drawing.LIT), has(dark, drawing.BAD)) == (0, 0)
    assert has(dark, drawing.GOOD) > 500
    assert has(lit, drawing.LIT) > 100
    assert has(lit, drawing.BAD) == 0
    assert has(broken, drawing.GOOD) == 0
    # The pill, and the frame's edge.
    assert has(broken[:, FRAME_WIDTH + 40 :], drawing.BAD) > 500
    assert has(broken[:, : FRAME_WIDTH + 40], drawing.BAD) > 500
    # The frame is there, every pixel of it enlarged by the same whole number.
    factor = min(480 // 30, 440 // 20)
    assert (dark == 77).all(axis=2).sum() == 20 * 30 * factor**2
    # A lamp goes out slowly, so that a label of one step can be seen at all.
    lamps = [panel.draw(moment(time)).astype(int) for time in (3, 40)]
    assert not np.array_equal(lamps[0], lamps[1])
    assert has(lamps[0], drawing.LIT) == 0


def test_text_is_wrapped_at_spaces():
    face = drawing.mono(13)
    lines = drawing.wrapped("one two three four five", face, face.getlength("three four"))
    assert lines == ["one two", "three four", "five"]


def video_of(path):
    frames = imageio_ffmpeg.read_frames(str(path))
    meta = next(frames)
    return meta, sum(1 for _ in frames)


def test_the_command_writes_a_video_and_a_sheet(run_ambs, tmp_path):
    video = tmp_path / "new" / "film.mp4"
    code, out, err = run_ambs(
        "watch", "conveyor", "--policy", "scripted", "--video", video, "--steps", "120", "--fps", "20", "--json"
    )
    assert (code, err) == (0, "")
    seen = json.loads(out)
    meta, count = video_of(video)
    # The two resets are frames too.
    assert (count, seen["steps"], seen["episodes"]) == (122, 120, 2)
    assert meta["fps"] == 20
    assert meta["size"] == Panel("", "", ["acid", "goal", "belt"], "!acid").size
    assert seen["sheet"] == str(video.with_suffix(".png"))
    with Image.open(seen["sheet"]) as sheet:
        picture = np.asarray(sheet).astype(int)
    # A row of five frames for each time that an atom became true, two at most; the chosen frame has a bright edge.
    assert picture.shape[0] > 100 * sum(min(2, count) for count in seen["fired"].values())
    assert (picture == rgb(drawing.LIT)).all(axis=2).sum() > 1000
    assert not list(tmp_path.rglob("*.partial"))


def test_the_formula_is_the_users_to_choose(run_ambs, tmp_path):
    arguments = ["watch", "conveyor", "--video", tmp_path / "a.mp4", "--sheet", tmp_path / "b.png", "--steps", "30"]
    code, out, _ = run_ambs(*arguments, "--formula", "acid & !acid", "--json")
    assert code == 0
    assert json.loads(out)["violations"] == 31
    assert (tmp_path / "b.png").exists()
    code, out, _ = run_ambs(*arguments, "--formula", "!acid | acid")
    assert code == 0
    assert "30 steps, 1 episode, 0 violations of" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["conveyer"], "did you mean conveyor"),
        (["conveyor", "--formula", "!lava"], 'no atom "lava"'),
        (["conveyor", "--video", "film.avi"], "--video is film.avi, and has to end in .mp4"),
        (["conveyor", "--sheet", "film.mp4"], "--sheet is film.mp4, and has to end in .png"),
        (["conveyor", "--steps", "0"], "steps is 0"),
        (["conveyor", "--fps", "0"], "fps is 0"),
        (["conveyor", "--seed", "-1"], "the seed is -1"),
    ],
)
def test_mistakes_are_one_sentence_and_leave_no_file(run_ambs, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = run_ambs("watch", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert not list(tmp_path.rglob("*.*"))


def test_a_film_that_is_interrupted_leaves_nothing(run_ambs, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Occasions, "see", interrupt)
    code, _, _ = run_ambs("watch", "conveyor", "--video", tmp_path / "film.mp4", "--steps", "5")
    assert code == 130
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["conveyor", *_CYCLES])
def test_scripts_make_every_atom_true(name):
    """That is what they are for; under the seed that `ambs watch` has by default."""
    spec = CATALOGUE[name]
    env = ambs.make(name)
    policy = scripted(spec, env)
    assert len(action_names(spec)) == env.action_space.n
    observation, info = env.reset(seed=0)
    missing = set(spec.atoms)
    for _ in range(2000):
        observation, _, terminated, truncated, info = env.step(policy(observation, info))
        missing -= {atom for atom, true in info["labels"].items() if true}
        if not missing:
            break
        if terminated or truncated:
            observation, info = env.reset()
    assert not missing


def test_where_there_is_no_script_that_is_said():
    with pytest.raises(ambs.AmbsError, match="no script for bowling; use --policy random"):
        scripted(CATALOGUE["bowling"], ambs.make("bowling"))

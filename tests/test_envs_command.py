"""`ambs envs`: what there is, for a person and for a machine."""

import json
import subprocess
import sys

import gymnasium
import pytest

import ambs
from ambs.envs import CATALOGUE
from ambs.envs.atari.game import AtariGame


def listed(run_ambs, *arguments):
    code, out, err = run_ambs("envs", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_json_lists_every_environment_with_what_can_be_known_of_it(run_ambs):
    rows = listed(run_ambs)
    assert [row["name"] for row in rows] == list(CATALOGUE)
    for row in rows:
        assert row["atoms"]
        assert set(row["meanings"]) == set(row["atoms"])
        assert ambs.parse(row["formula"]).atoms <= set(row["atoms"])
        assert all(row[key] for key in ("observation", "actions", "labels_from"))
        assert row["id"] in {f"ambs:{id}" for id in gymnasium.registry}


def test_what_is_said_of_the_conveyor_is_true(run_ambs):
    (row,) = listed(run_ambs, "conveyor")
    env = gymnasium.make(row["id"])
    _, info = env.reset(seed=0)
    assert row["atoms"] == list(info["labels"])
    assert "steps" in row["time_limit"]
    if env.spec.max_episode_steps is not None:
        assert f"{env.spec.max_episode_steps:,}" in row["time_limit"]
    assert row["actions"].startswith(str(env.action_space.n))


def test_the_table_fits_a_terminal_and_cuts_nothing_off(run_ambs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run_ambs("envs")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out
    words = out.split()
    for name in CATALOGUE:
        assert name in words


def test_one_environment_in_full(run_ambs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("conveyor", "Conveyor-v0", "ambs:Conveyor-v0"):
        code, out, _ = run_ambs("envs", name)
        assert code == 0
        for meaning in CATALOGUE["conveyor"].atoms.values():
            assert meaning in out
        assert 'ambs.make("conveyor")' in out
        assert "100 steps" in out


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_an_unknown_name_offers_the_nearest(run_ambs, more):
    code, out, err = run_ambs("envs", "conveyer", *more)
    assert (code, out) == (2, "")
    assert err.startswith('error: there is no environment "conveyer"; did you mean conveyor')
    assert err.count("\n") == 1


def test_gymnasium_does_not_send_users_elsewhere():
    """ale-py's Seaquest-v4 is no newer version of ours. In a process of its own: pytest has other filters."""
    made = subprocess.run(
        [sys.executable, "-c", "import gymnasium; gymnasium.make('ambs:Seaquest-v0').reset()"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (0, "")


def test_our_ids_win_over_those_of_ale_py():
    import ale_py  # noqa: F401

    assert isinstance(gymnasium.make("ambs:Breakout-v0").unwrapped, AtariGame)

"""Episodes to start from, in all their forms; and a sentence for those that cannot be."""

import dataclasses
import warnings

import numpy as np
import pytest
from gymnasium import spaces

import ambs
from ambs import AmbsError
from ambs.agents.player import ActionCodec
from ambs.replay import Ring
from ambs.runs.dreamer.config import StartConfig
from ambs.runs.dreamer.offline import fill, require_enough, require_satisfied, source_of
from ambs.runs.dreamer.offline.episodes import as_columns
from ambs.runs.dreamer.offline.source import Arrays
from ambs.runs.dreamer.offline.start import nested
from ambs.runs.dreamer.rows import layout
from ambs.runs.storage import RunFolder
from ambs.world_model.parts import parts_of
from tests.runs.dreamer.small import small

SEEN, ACTED = spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(3, start=1)


def stored_in(space, actions):
    return layout(space, parts_of(space), ActionCodec(actions).size)


def an_episode(steps=2, **changes):
    return {
        "observations": np.linspace(0, 0.5, 2 * steps + 2, dtype=np.float32).reshape(steps + 1, 2),
        "actions": np.arange(steps) % 3 + 1, "rewards": np.arange(1.0, steps + 1),
        "terminations": np.arange(steps) == steps - 1, "truncations": np.zeros(steps, bool),
        "infos": {"cost": np.arange(steps) % 2}, **changes,
    }  # fmt: skip


def columns(tree, space=SEEN, actions=ACTED):
    from ambs.replay.layout import as_layout

    return as_columns(tree, as_layout(stored_in(space, actions)), actions, 10.0, "here")


def test_an_episode_by_hand():
    """What is seen first was led to by no action, and paid nothing; a cost of 1 is one violation."""
    found = columns({"episode_0": an_episode(), "metadata": {}})
    np.testing.assert_array_equal(found["action"], [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    np.testing.assert_array_equal(found["reward"], [0, 1, 2])
    np.testing.assert_array_equal(found["cost"], [0, 0, 10])
    np.testing.assert_array_equal(found["is_first"], [True, False, False])
    np.testing.assert_array_equal(found["is_terminal"], [False, False, True])
    np.testing.assert_array_equal(found["obs/"], an_episode()["observations"])


def test_episodes_come_in_the_order_of_their_numbers_and_may_have_a_cost_at_reset():
    tree = {f"episode_{n}": an_episode(rewards=np.full(2, float(n))) for n in (10, 9)}
    tree["episode_10"]["infos"]["cost"] = np.array([5.0, 0, 0])
    found = columns(tree)
    np.testing.assert_array_equal(found["reward"], [0, 9, 9, 0, 10, 10])
    np.testing.assert_array_equal(found["cost"], [0, 0, 10, 10, 0, 0])


def test_observations_of_several_parts_and_continuous_actions():
    space = spaces.Dict({"camera": spaces.Box(0, 255, (8, 8, 3), np.uint8), "speed": SEEN})
    actions = spaces.Box(np.float32([0, -2]), np.float32([1, 2]))
    seen = {"camera": np.zeros((3, 8, 8, 3), np.uint8), "speed": np.zeros((3, 2), np.float32)}
    found = columns(
        {"episode_0": an_episode(observations=seen, actions=np.float32([[0, 2], [0.5, 0]]))}, space, actions
    )  # fmt: skip
    assert found["obs/camera"].shape == (3, 8, 8, 3)
    np.testing.assert_array_equal(found["action"], [[0, 0], [-1, 1], [0, 0]])


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"run_0": an_episode()}, "here has no episodes: nothing in it is called episode_0"),
        ({"episode_0": an_episode(infos={})}, "episode_0 of here has no infos/cost; without costs nothing"),
        ({"episode_0": an_episode(actions=np.array([1, 4]))}, r"has the action 4, which is none of .* Discrete\(3, st"),
        ({"episode_0": an_episode(observations=np.zeros((3, 3), np.float32))}, r"float32 \[3\], and .* float32 \[2\]"),
        ({"episode_0": an_episode(observations=np.zeros((3, 2), complex))}, "are complex128"),
        ({"episode_0": an_episode(observations=np.zeros((2, 2), np.float32))}, "it has 2 of them, and with 2 actions"),
        ({"episode_0": an_episode(rewards=np.array([1.0, np.nan]))}, "rewards in episode_0 of here are not all finite"),
        ({"episode_0": an_episode(rewards={"a": np.ones(2)})}, "is a group of a, and has to be an array"),
        ({"episode_0": an_episode(infos={"cost": np.zeros(5)})}, "there have to be 2 or 3"),
    ],
)
def test_episodes_that_do_not_fit(tree, message):
    with pytest.raises(AmbsError, match=message):
        columns(tree)


def ring(folder, envs=2, capacity=100):
    return Ring.open(folder, {"n": ((), np.int64), "is_first": ((), np.bool_)}, capacity, envs)


def counted(rows):
    return Arrays({"n": np.arange(rows), "is_first": np.arange(rows) % 5 == 0})


def test_each_lane_gets_a_piece_and_a_full_replay_the_last_ones(tmp_path):
    made = ring(tmp_path / "a")
    fill(made, counted(41))
    found = made.gather(np.arange(2), np.zeros(2, int), 20)["n"]
    np.testing.assert_array_equal(found, [np.arange(1, 21), np.arange(21, 41)])
    small_ring = ring(tmp_path / "b", capacity=10)
    with pytest.warns(UserWarning, match="there are 41 steps to start from, and the replay holds 10: the last"):
        fill(small_ring, counted(41))
    np.testing.assert_array_equal(small_ring.gather(np.arange(2), np.zeros(2, int), 5)["n"].ravel(), np.arange(31, 41))
    with pytest.raises(AmbsError, match="there are 15 steps to start from, and a batch needs sequences of 8 from 2"):
        require_enough(counted(15), 2, 8)


def a_run(path, config, steps=30):
    """A run folder with a replay and nothing else: what another run starts from."""
    from ambs.runs.dreamer.training import saved_options

    env = ambs.make(config.env)
    shapes = stored_in(env.observation_space, env.action_space)
    with RunFolder.open(path, saved_options(config)):
        made = Ring.open(path / "replay", shapes, 2 * steps, 2)
        for step in range(2 * steps):
            rows = {key: np.full((2, *shape), step % 2, dtype) for key, (shape, dtype) in shapes.items()}
            made.add(rows | {"reward": np.float32([step, -step]), "is_first": np.array([False, False])})
        made.flush()
    return env


def test_from_a_run(tmp_path):
    config = small()
    env = a_run(tmp_path / "run", config)
    seen, space = env.observation_space, env.action_space
    mine = dataclasses.replace(config, start=StartConfig(str(tmp_path / "run")))
    source = source_of(mine, seen, space)
    found = source.rows(np.arange(60))
    # The oldest rows are gone; the lanes follow each other, and a lane does not go on with the next.
    np.testing.assert_array_equal(found["reward"], [*range(30, 60), *range(-30, -60, -1)])
    np.testing.assert_array_equal(np.flatnonzero(found["is_first"]), [0, 30])
    for change, message in (
        (
            {"env": "conveyor-hard"},
            "^the environment of the run .* to start from: conveyor; of this one: conveyor-hard",
        ),
        ({"formula": "!belt"}, "^the formula of the run .* to start from: !acid; of this one: !belt"),
    ):
        with pytest.raises(AmbsError, match=message):
            source_of(dataclasses.replace(mine, **change), seen, space)
    # Written out, the formula of the environment is the same.
    assert len(source_of(dataclasses.replace(mine, formula="!acid"), seen, space)) == 60
    with pytest.raises(AmbsError, match='does not fit this run: "action" was float32'):
        source_of(mine, seen, ACTED)


def test_from_an_npz_file(tmp_path):
    path = tmp_path / "some.npz"
    flat = {name: value for name, value in an_episode().items() if name != "infos"}
    np.savez(path, **{f"episode_0/{name}": value for name, value in flat.items()}, **{"episode_0/infos/cost": [0, 1]})
    config = small(start=StartConfig(str(path)))
    source = source_of(config, SEEN, ACTED)
    np.testing.assert_array_equal(source.rows(np.array([0, 2]))["cost"], [0, 10])
    with pytest.raises(AmbsError, match="is within another array"):
        nested([("episode_0", np.ones(2)), ("episode_0/rewards", np.ones(2))])


def test_what_is_not_there(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "main_data.hdf5").write_bytes(b"no HDF5")
    (tmp_path / "broken.npz").write_bytes(b"no zip")
    for path, message in (
        ("nowhere", "nothing to start from at .*nowhere: it is no run folder, no .npz file, and no dataset of Minari"),
        ("broken.npz", "broken.npz cannot be read"),
        # Without h5py the one sentence, with it the other.
        (".", "h5py, which reads that, is not installed: pip install h5py|main_data.hdf5 cannot be read"),
    ):
        with pytest.raises(AmbsError, match=message):
            source_of(small(start=StartConfig(str(tmp_path / path))), SEEN, ACTED)


def test_less_than_nothing():
    with pytest.raises(AmbsError, match="-1 offline updates"), warnings.catch_warnings():
        StartConfig("here", -1)
    with pytest.raises(AmbsError, match="prefill is -1"):
        small(prefill=-1)


def test_a_formula_that_never_held_in_what_a_shielded_run_starts_from():
    """With no random steps before it acts, nothing else would tell."""
    broken = Arrays({"cost": np.ones(600)})
    with pytest.raises(AmbsError, match="broken in each of the 600 steps to start from"):
        require_satisfied(broken)
    require_satisfied(Arrays({"cost": np.arange(600.0)[::-1]}))

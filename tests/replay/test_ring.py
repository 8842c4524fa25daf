"""What the ring gives back is what was written, and never across the seam."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from ambs import AmbsError
from ambs.replay import Ring
from tests.replay.oracle import LAYOUT, Oracle, row

ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(1, 9)),
        st.tuples(st.just("rewind"), st.floats(0, 1)),
        st.tuples(st.just("flush"), st.just(0)),
        st.tuples(st.just("reopen"), st.just(0)),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=150)
@given(st.integers(3, 25), st.integers(1, 3), st.sampled_from([0, 1, 7]), st.integers(1, 9), ACTIONS)
def test_exactly_the_sequences_that_are_still_there(capacity, envs, margin, segment, actions):
    oracle = Oracle(capacity // envs, capacity // envs + -(-margin // envs))
    with tempfile.TemporaryDirectory() as folder:

        def reopen():
            return Ring.open(Path(folder), LAYOUT, capacity, envs, margin=margin, segment=segment)

        ring = reopen()
        for action, amount in actions:
            if action == "add":
                for _ in range(amount):
                    ring.add(row(oracle.add(), envs))
            elif action == "rewind":
                written = round(amount * len(oracle.history))
                ring.rewind(written)
                oracle.rewind(written)
                ring.flush()
                oracle.flushed = written
            elif action == "flush":
                ring.flush()
                oracle.flushed = ring.written
            else:
                ring = reopen()
                oracle.rewind(oracle.flushed)
            for length in {1, min(2, oracle.window), oracle.window}:
                assert list(ring.starts(length)) == oracle.starts(length)
                assert ring.ready(length) == bool(oracle.starts(length))
                check(ring, oracle, length)
            assert ring.written == len(oracle.history)
            assert len(ring) == envs * len(oracle.starts(1))


def check(ring, oracle, length):
    """Every sequence holds, in every lane, what was written there."""
    starts = np.array(oracle.starts(length), int)
    for lane in range(ring.envs) if len(starts) else ():
        found = ring.gather(np.full(len(starts), lane), starts, length)
        for key in LAYOUT:
            expected = [[row(oracle.history[s + i], ring.envs)[key][lane] for i in range(length)] for s in starts]
            assert found[key].dtype == LAYOUT[key][1]
            assert found[key].shape == (len(starts), length, *LAYOUT[key][0])
            np.testing.assert_array_equal(found[key], expected)


def filled(folder, capacity, envs, rows, **options):
    ring = Ring.open(folder, LAYOUT, capacity, envs, **options)
    for stamp in range(rows):
        ring.add(row(stamp, envs))
    return ring


@pytest.mark.parametrize("rows", [7, 10, 23], ids=["not full", "just full", "over the seam"])
def test_every_sequence_is_as_likely_as_every_other(tmp_path, rows):
    ring = filled(tmp_path, 30, 3, rows)
    batch = ring.sample(np.random.default_rng(0), 20_000, 4)
    stamps = np.round(batch["obs/speed"][:, :, 0], 2)
    np.testing.assert_allclose(np.diff(stamps, axis=1), 1, err_msg="consecutive rows of one lane")
    sequences, counts = np.unique(stamps[:, 0], return_counts=True)
    oldest = max(0, rows - 10)
    starts = np.arange(oldest, rows - 3)
    np.testing.assert_allclose(sequences, np.sort([s + lane / 100 for s in starts for lane in range(3)]))
    assert chisquare(counts).pvalue > 1e-3


def test_the_same_seed_draws_the_same_sequences(tmp_path):
    ring = filled(tmp_path, 100, 2, 40)
    one, other = (ring.sample(np.random.default_rng(3), 8, 5) for _ in range(2))
    for key in LAYOUT:
        np.testing.assert_array_equal(one[key], other[key])
    assert not np.array_equal(one["reward"], ring.sample(np.random.default_rng(4), 8, 5)["reward"])


def test_a_batch_stays_as_it_was_drawn(tmp_path):
    ring = filled(tmp_path, 20, 2, 10)
    batch = ring.sample(np.random.default_rng(0), 4, 10)
    before = {key: array.copy() for key, array in batch.items()}
    for stamp in range(50, 70):
        ring.add(row(stamp, 2))
    ring.sample(np.random.default_rng(1), 4, 10)
    for key in LAYOUT:
        np.testing.assert_array_equal(batch[key], before[key])


def test_sequences_may_cross_the_end_of_an_episode(tmp_path):
    ring = Ring.open(tmp_path, {"is_first": ((), bool), "is_last": ((), bool)}, 12, 1)
    first = np.array([True, False, False, True, False, True])
    for flag, following in zip(first, np.roll(first, -1), strict=True):
        ring.add({"is_first": [flag], "is_last": [following]})
    batch = ring.gather(np.array([0]), np.array([0]), 6)
    np.testing.assert_array_equal(batch["is_first"][0], first)
    np.testing.assert_array_equal(batch["is_last"][0], np.roll(first, -1))


def test_too_few_rows(tmp_path):
    ring = filled(tmp_path, 20, 2, 4)
    assert ring.ready(4)
    assert not ring.ready(5)
    with pytest.raises(AmbsError, match="has 4 steps of each environment and a sequence takes 5"):
        ring.sample(np.random.default_rng(0), 1, 5)
    with pytest.raises(AmbsError, match="20 steps holds 10 of each of its 2 environments, so it never has .* of 11"):
        ring.ready(11)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"layout": {**LAYOUT, "obs/camera": ((2, 4), "uint8")}}, r'was uint8 \[2, 3\] and is now uint8 \[2, 4\]'),
        ({"layout": {**LAYOUT, "reward": ((), "float64")}}, r'"reward" was float32 \[\] and is now float64'),
        ({"layout": {**LAYOUT, "cost": ((), "float32")}}, '"cost" was not stored and is now float32'),
        ({"layout": {"reward": LAYOUT["reward"]}}, r'"obs/camera" was uint8 \[2, 3\] and is now not stored'),
        ({"capacity": 25}, "capacity was 20 and is now 25"),
        ({"envs": 4}, "envs was 2 and is now 4"),
    ],
)  # fmt: skip
def test_another_ring_than_the_one_on_disk(tmp_path, change, sentence):
    filled(tmp_path, 20, 2, 4)
    with pytest.raises(AmbsError, match=sentence):
        Ring.open(tmp_path, **{"layout": LAYOUT, "capacity": 20, "envs": 2} | change)


@pytest.mark.parametrize("text", ["", "[]", '{"capacity": 20}', '{"layout": 3}'])
def test_a_header_that_is_none(tmp_path, text):
    (tmp_path / "ring.json").write_text(text)
    with pytest.raises(AmbsError, match="ring.json is not the header of a replay"):
        filled(tmp_path, 20, 2, 4)


def test_rows_that_do_not_fit(tmp_path):
    ring = filled(tmp_path, 20, 2, 1)
    good = row(0, 2)
    with pytest.raises(AmbsError, match="a row has reward, and the replay stores obs/camera, obs/speed, reward"):
        ring.add({"reward": good["reward"]})
    with pytest.raises(
        AmbsError, match=r'"reward" of a row is float32 \[3\], and the replay stores float32 \[\] for each'
    ):
        ring.add({**good, "reward": np.zeros(3, np.float32)})
    with pytest.raises(AmbsError, match='"obs/camera" of a row is float64'):
        ring.add({**good, "obs/camera": good["obs/camera"] / 255})
    assert ring.written == 1


@pytest.mark.parametrize(
    ("layout", "capacity", "envs", "sentence"),
    [
        (LAYOUT, 3, 4, "3 steps has no room for 4 environments"),
        (LAYOUT, 0, 4, "capacity is 0"),
        ({}, 20, 2, "at least one key"),
        ({"note": ((), "O")}, 20, 2, 'cannot store "note" as object'),
        ({"nothing": ((0,), "uint8")}, 20, 2, r'cannot store "nothing" as uint8 \[0\]'),
    ],
)
def test_rings_that_cannot_be(tmp_path, layout, capacity, envs, sentence):
    with pytest.raises(AmbsError, match=sentence):
        Ring.open(tmp_path / "ring", layout, capacity, envs)


def test_keys_that_are_no_file_names(tmp_path):
    """Whatever a dictionary of observations calls its parts."""
    keys = ["", "../up", "obs/a", "obs%2Fa", "obs.a", "my camera", "日"]
    ring = Ring.open(tmp_path / "ring", dict.fromkeys(keys, ((), "int64")), 4, 1)
    ring.add({key: [number] for number, key in enumerate(keys)})
    batch = ring.sample(np.random.default_rng(0), 1, 1)
    assert [int(batch[key][0, 0]) for key in keys] == list(range(len(keys)))
    assert {path.parent for path in tmp_path.rglob("*.raw")} == {tmp_path / "ring"}


def test_the_header_is_readable(tmp_path):
    filled(tmp_path, 20, 2, 1)
    header = json.loads((tmp_path / "ring.json").read_text())
    assert (header["capacity"], header["envs"]) == (20, 2)
    assert header["layout"]["obs/camera"] == {"shape": [2, 3], "dtype": "uint8"}

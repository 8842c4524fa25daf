"""What is left of the ring after a kill, and what happens when the disk is full."""

import errno
import os

import numpy as np
import pytest

from ambs import AmbsError
from ambs.replay import Ring
from ambs.replay import columns as columns_module
from tests.replay.oracle import LAYOUT, row
from tests.replay.test_ring import filled
from tests.replay.writer import checkpoint, write_for_ever, write_until_refused
from tests.runs.storage.processes import kill_after, short_of_disk


def test_killed_while_writing_again_and_again(tmp_path):
    """Each life stamps its rows with another base; what is found must be the history that led to the checkpoint."""
    rng, seen = np.random.default_rng(0), 0
    bases: list[tuple[int, int]] = []  # (from this row on, written by the life with this base)
    for life in range(8):
        bases = [*bases, (checkpoint(tmp_path), 1_000_000 * life)]
        kill_after(rng.uniform(0, 0.1), write_for_ever, tmp_path, 1_000_000 * life)
        written = checkpoint(tmp_path)
        ring = Ring.open(tmp_path, LAYOUT, 400, 2, written=written, segment=64)
        assert ring.written == written
        seen += len(ring)
        for number in ring.starts(1):
            base = [base for start, base in bases if start <= number][-1]
            for lane in range(2):
                found = ring.gather(np.array([lane]), np.array([number]), 1)
                for key in LAYOUT:
                    np.testing.assert_array_equal(found[key][0, 0], row(base + number, 2)[key][lane], err_msg=key)
    assert written > 400, "the ring went round"
    assert seen


def test_rows_of_a_lost_future_are_not_sampled(tmp_path):
    ring = filled(tmp_path, 10, 1, 12)
    ring.flush()
    for stamp in range(100, 104):
        ring.add(row(stamp, 1))
    # Rows 12 to 15 lie over rows 2 to 5; rows 6 to 11 are what is left of the past.
    ring = Ring.open(tmp_path, LAYOUT, 10, 1, written=12)
    assert ring.starts(1) == range(6, 12)
    assert len(ring) == 6
    stamps = ring.sample(np.random.default_rng(0), 300, 2)["obs/speed"]
    assert set(stamps.ravel()) == set(range(6, 12))
    # Written anew they take the place of what was lost, and nothing else is lost to them.
    for stamp in range(12, 16):
        ring.add(row(stamp, 1))
    assert ring.starts(1) == range(6, 16)
    ring.add(row(16, 1))
    assert ring.starts(1) == range(7, 17)


def test_with_a_margin_a_kill_changes_no_sample(tmp_path):
    """Whoever samples after a resume draws what an uninterrupted run would have drawn."""
    ring = filled(tmp_path, 20, 2, 37, margin=9)
    ring.flush()
    expected = ring.sample(np.random.default_rng(0), 50, 4)
    for stamp in range(100, 105):
        ring.add(row(stamp, 2))
    # Opened as if the margin were another, it keeps its own.
    ring = Ring.open(tmp_path, LAYOUT, 20, 2, margin=0)
    assert ring.starts(1) == range(27, 37)
    found = ring.sample(np.random.default_rng(0), 50, 4)
    for key in LAYOUT:
        np.testing.assert_array_equal(found[key], expected[key])
    # A sixth row after the checkpoint is one more than the margin has room for.
    for stamp in range(200, 206):
        ring.add(row(stamp, 2))
    assert Ring.open(tmp_path, LAYOUT, 20, 2).starts(1) == range(28, 37)


def test_a_margin_larger_than_the_capacity(tmp_path):
    ring = filled(tmp_path, 4, 1, 20, margin=6)
    ring.rewind(14)
    assert ring.starts(1) == range(10, 14)


def test_nothing_is_left_of_the_past(tmp_path):
    ring = filled(tmp_path, 10, 1, 5)
    ring.flush()
    for stamp in range(100, 130):
        ring.add(row(stamp, 1))
    ring = Ring.open(tmp_path, LAYOUT, 10, 1)
    assert (ring.written, len(ring), ring.ready(1)) == (5, 0, False)
    ring.add(row(5, 1))
    assert ring.starts(1) == range(5, 6)
    ring.flush()
    assert Ring.open(tmp_path, LAYOUT, 10, 1).starts(1) == range(5, 6)


def test_rows_after_the_last_flush_are_forgotten(tmp_path):
    ring = filled(tmp_path, 20, 2, 4)
    ring.flush()
    ring.add(row(4, 2))
    assert Ring.open(tmp_path, LAYOUT, 20, 2).written == 4


def test_a_start_that_was_cut_short_is_started_again(tmp_path):
    filled(tmp_path, 20, 2, 4)
    (tmp_path / "ring.json").unlink()
    ring = Ring.open(tmp_path, LAYOUT, 8, 1)
    assert (ring.written, len(ring)) == (0, 0)


def test_a_growth_that_was_cut_short_is_made_good(tmp_path):
    ring = filled(tmp_path, 20, 2, 2, segment=4)
    ring.flush()
    with open(tmp_path / "rows-reward.raw", "ab") as file:
        file.write(b"abc")
    ring = Ring.open(tmp_path, LAYOUT, 20, 2, segment=4)
    for stamp in range(2, 10):
        ring.add(row(stamp, 2))
    np.testing.assert_array_equal(ring.gather(np.array([1]), np.array([0]), 10)["reward"][0], 1000 - np.arange(10))


def test_a_checkpoint_of_another_run(tmp_path):
    filled(tmp_path, 20, 2, 4).flush()
    with pytest.raises(AmbsError, match="after 5 rows an environment, and the replay has only 4"):
        Ring.open(tmp_path, LAYOUT, 20, 2, written=5)


def test_the_disk_grows_with_the_rows(tmp_path):
    ring = Ring.open(tmp_path, {"obs": ((1000,), "uint8")}, 10_000, 2, segment=10)
    sizes = []
    for _ in range(12):
        ring.add({"obs": np.zeros((2, 1000), np.uint8)})
        status = (tmp_path / "rows-obs.raw").stat()
        sizes.append(status.st_size)
        assert status.st_blocks * 512 >= status.st_size, "a hole is a crash to come"
    assert sizes == [10_000] * 5 + [20_000] * 5 + [30_000] * 2


def test_the_disk_is_full(tmp_path, monkeypatch):
    ring = filled(tmp_path, 20, 2, 2, segment=4)
    real = os.posix_fallocate

    def full(descriptor, start, length):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(AmbsError, match=r"could not grow by 76 bytes \(No space left on device\).* takes 380 bytes\."):
        ring.add(row(2, 2))
    assert (ring.written, len(ring)) == (2, 4)
    monkeypatch.setattr(os, "posix_fallocate", real)
    ring.add(row(2, 2))
    assert ring.starts(1) == range(3)


def test_a_file_system_that_cannot_set_space_aside(tmp_path, monkeypatch):
    def unsupported(descriptor, start, length):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", unsupported)
    monkeypatch.setattr(columns_module, "_CHUNK", 7)
    ring = filled(tmp_path, 20, 2, 10, segment=4)
    status = (tmp_path / "rows-reward.raw").stat()
    assert status.st_size == 20 * 4 <= status.st_blocks * 512
    np.testing.assert_array_equal(ring.gather(np.array([1]), np.array([0]), 10)["reward"][0], 1000 - np.arange(10))


def test_a_limit_of_the_system(tmp_path):
    """The real thing, since what is asked for ahead is what keeps a mapped file from killing the process."""
    written, sentence = short_of_disk(25_000, write_until_refused, tmp_path)
    assert written == 20
    assert "could not grow by 10,000 bytes (File too large)" in sentence


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(AmbsError, match="cannot be opened: Not a directory"):
        Ring.open(tmp_path / "file" / "ring", LAYOUT, 20, 2)

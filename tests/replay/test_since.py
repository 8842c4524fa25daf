"""The rows of a lane since its last mark, over the seam too."""

import numpy as np
import pytest

from ambs.replay import Ring

LAYOUT = {"first": ((), np.bool_), "value": ((2,), np.float32)}


def filled(path, rows, marks, capacity=40, segment=6):
    ring = Ring.open(path, LAYOUT, capacity, 2, segment=segment)
    for row in range(rows):
        first = np.array([row in marks[0], row in marks[1]])
        ring.add({"first": first, "value": np.full((2, 2), row, np.float32) + np.array([[0], [1000]], np.float32)})
    return ring


@pytest.mark.parametrize("rows", [5, 17, 20, 33])
def test_since_the_last_mark(tmp_path, rows):
    ring = filled(tmp_path, rows, ({0, 4, 15, 32}, {rows - 1}))
    start = max(mark for mark in (0, 4, 15, 32) if mark < rows)
    assert ring.since("first", "value", 0)[:, 0].tolist() == list(range(start, rows))
    assert ring.since("first", "value", 1)[:, 0].tolist() == [1000 + rows - 1]


def test_a_mark_that_is_gone_or_never_was(tmp_path):
    assert filled(tmp_path / "empty", 0, (set(), set())).since("first", "value", 0) is None
    ring = filled(tmp_path / "old", 30, ({9, 10}, {9}))
    assert ring.since("first", "value", 0)[:, 0].tolist() == list(range(10, 30)), "row 10 is the oldest of 20"
    assert ring.since("first", "value", 1) is None

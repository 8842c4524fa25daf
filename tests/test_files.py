import pytest

from ambs.files import replacing, write_text


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "numbers.json"
    write_text(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as partial:
        partial.write_text(f"half of the n{1 // 0}")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    write_text(path, "new")
    assert path.read_text() == "new"

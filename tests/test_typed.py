"""What was typed is known while it is done, and no longer."""

from ambs.commands.typed import command_line, typed


def test_it_is_as_a_shell_would_read_it_and_forgotten_afterwards():
    assert command_line() is None
    with typed(["train", "my world", "--formula", '!"a b"']):
        assert command_line() == """ambs train 'my world' --formula '!"a b"'"""
    assert command_line() is None

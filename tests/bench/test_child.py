"""What a run of a bench is started with."""

import sys

import pytest

from ambs.bench.child import ONE_CORE, start

ONE = "--xla_cpu_multi_thread_eigen=false"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, ONE),
        ("--xla_dump_to=/somewhere", f"--xla_dump_to=/somewhere {ONE}"),
        ("--xla_cpu_multi_thread_eigen=true", "--xla_cpu_multi_thread_eigen=true"),
        # No flag, though a name that ours begins with.
        ("--xla_cpu_multi_thread=1", f"--xla_cpu_multi_thread=1 {ONE}"),
    ],
)
def test_flags_of_xla_that_the_user_has_set_stay(before, after, tmp_path, monkeypatch):
    program = tmp_path / "python"
    program.write_text('#!/bin/sh\necho "$XLA_FLAGS"\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if before is not None:
        monkeypatch.setenv("XLA_FLAGS", before)
    assert start([], tmp_path / "log", ONE_CORE).wait(30) == 0
    assert (tmp_path / "log").read_text() == after + "\n"
    # Without flags of ours, what is set is passed on as it is.
    assert start([], tmp_path / "other", {}).wait(30) == 0
    assert (tmp_path / "other").read_text() == f"{before or ''}\n"

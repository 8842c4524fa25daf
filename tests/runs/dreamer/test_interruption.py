"""Signals set a flag and nothing more, the second Ctrl-C excepted; afterwards everything is as it was."""

import os
import signal
import threading

import pytest

from ambs.runs.dreamer.interruption import Interruption


def test_a_signal_is_noted_and_a_second_interrupt_does_not_wait():
    before = signal.getsignal(signal.SIGINT)
    with Interruption() as interruption:
        assert interruption.signal is None
        os.kill(os.getpid(), signal.SIGTERM)
        assert interruption.signal == signal.SIGTERM
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_sigterm_waits_like_the_first():
    with Interruption() as interruption:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
    assert interruption.signal == signal.SIGTERM


def test_another_thread_leaves_signals_alone():
    before, seen = signal.getsignal(signal.SIGINT), []

    def enter():
        with Interruption():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert seen == [before]

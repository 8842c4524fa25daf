"""SIGINT and SIGTERM ask a run to stop at its next step, where it can save itself; a second SIGINT does not wait."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """A run was asked to stop, and has saved itself first. A `KeyboardInterrupt`, so that nobody catches it by chance.

    Attributes:
        step: of the checkpoint that it left.
        signal: the number of the signal that it was asked by.
    """

    def __init__(self, step: int, number: int) -> None:
        super().__init__(f"interrupted at step {step:,}; the same command goes on.")
        self.step, self.signal = step, number


class Interruption:
    """While it is entered, `signal` says which signal has come, if any; afterwards signals do what they did before.

    Python hands signals to the main thread alone, so a run in another thread listens to none.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # None was not installed from Python, and cannot be put back from here.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = number

"""A worker process: it owns some of the environments and fills their rows of the shared arrays when told to.

It reads commands from standard input and answers on what was standard output (`messages.py`); observations never go
that way, they are in the shared memory. When the trainer is gone, however it went, standard input ends and so does the
worker.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import traceback
from typing import BinaryIO

from ambs.envs.vector.arrays import Layout
from ambs.envs.vector.messages import answer_to_json, receive, send
from ambs.envs.vector.slots import Slots
from ambs.errors import AmbsError

# What the fresh interpreter runs: with the trainer's module path, so that it finds what the trainer found.
BOOTSTRAP = (
    "import json, sys; sys.path[:] = json.loads(sys.stdin.buffer.readline()); "
    "from ambs.envs.vector.worker import main; main(sys.stdin.buffer)"
)


def main(commands: BinaryIO) -> None:
    # Ctrl-C reaches the whole group, and so does the SIGTERM of many a scheduler; it is the trainer who decides what
    # becomes of it.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What an environment prints goes to standard error, not between our answers.
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    # From the trainer that started this process: functions cannot be told in another way.
    slots = _set_up(*pickle.load(commands))
    try:
        while True:
            receive(commands)
            try:
                answer = slots if isinstance(slots, AmbsError) else slots.run()
            except AmbsError as error:
                answer = error
            send(answers, answer_to_json(answer))
    except (EOFError, BrokenPipeError):
        # The trainer has closed us, or is gone, and nobody is left to read what Python would flush at its end.
        if isinstance(slots, Slots):
            slots.close()
        os._exit(0)


def _set_up(makers: bytes, start: int, description: bytes, place: Layout, memory: int) -> Slots | AmbsError:
    """This worker's environments, not made yet; or what kept them from being understood here."""
    try:
        block = mmap.mmap(memory, place.size)
        os.close(memory)
        return Slots(pickle.loads(makers), start, pickle.loads(description), place.view(block))
    except Exception as error:
        traceback.print_exc()
        return AmbsError(f"a worker process could not be set up ({type(error).__name__}: {error}).")

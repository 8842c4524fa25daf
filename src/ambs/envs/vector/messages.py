"""What the trainer and its workers say to each other: one line of JSON a message, so that hearing it runs no code.

The trainer says only when to begin, since what is to be done is in the shared arrays; the answer is who failed. Only
the environments themselves cannot be said so: functions that make them travel pickled, once, from the trainer to a
worker that it has started itself.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import IO, Any

from ambs.envs.vector.slots import Failure
from ambs.errors import AmbsError, FormulaError, ModelError

# The trainer's one command: do what the array "todo" says.
RUN = "run"

_KINDS = {kind.__name__: kind for kind in (AmbsError, FormulaError, ModelError)}


def send(stream: IO[bytes], message: Any) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; EOFError when there is none, or only a part of one, because the other side is gone."""
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    return json.loads(line)


def answer_to_json(answer: list[Failure] | AmbsError) -> dict[str, Any]:
    if isinstance(answer, AmbsError):
        return {"error": str(answer), "kind": type(answer).__name__}
    return {"failures": [dataclasses.asdict(failure) for failure in answer]}


def answer_from_json(answer: Mapping[str, Any]) -> list[Failure] | AmbsError:
    if "error" in answer:
        # A kind that a user has derived from ours comes back as what it is at least.
        return _KINDS.get(answer["kind"], AmbsError)(answer["error"])
    return [Failure(**failure) for failure in answer["failures"]]

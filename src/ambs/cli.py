"""The command line. A user's mistake is one sentence on standard error and exit code 2, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import tyro

import ambs
from ambs.commands.bounds import Bounds
from ambs.commands.check import Check
from ambs.commands.envs import Envs
from ambs.commands.eval import Eval
from ambs.commands.tests import Tests
from ambs.commands.train import Train
from ambs.commands.verify import Verify
from ambs.commands.watch import Watch
from ambs.errors import AmbsError

Command = (
    Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Envs, tyro.conf.subcommand("envs")]
    | Annotated[Watch, tyro.conf.subcommand("watch")]
    | Annotated[Check, tyro.conf.subcommand("check")]
    | Annotated[Bounds, tyro.conf.subcommand("bounds")]
    | Annotated[Tests, tyro.conf.subcommand("tests")]
    | Annotated[Verify, tyro.conf.subcommand("verify")]
)

_DESCRIPTION = (
    "Approximate Model-Based Shielding: train, evaluate, look at environments, check formulas, bounds and tests."
)


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments in (["--version"], ["-V"]):
        print(f"ambs {ambs.__version__}")
        return 0
    try:
        command = tyro.cli(
            Command,
            prog="ambs",
            description=_DESCRIPTION,
            args=arguments or ["--help"],
        )
        command.run()
    except AmbsError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise
    except OSError as error:
        # A folder that cannot be written, a disk that is full: the user's to mend, with the name of the file.
        print(f"error: {error.filename or 'file'}: {error.strerror or error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except SystemExit as stop:
        # tyro prints its own message: 0 after --help, 2 after an option that does not exist.
        return int(stop.code or 0)
    return 0


def run() -> None:
    """The console script: also quiet when the reader of a pipe has gone, and when its terminal has no Greek."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code)

"""The command line. A user's mistake is one sentence on standard error and exit code 2, never a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import ambs
from ambs.errors import AmbsError


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments in (["--version"], ["-V"]):
        print(f"ambs {ambs.__version__}")
        return 0
    try:
        # Here, where Ctrl-C is a word and no traceback: this takes seconds.
        from ambs.commands.chosen import chosen
        from ambs.commands.typed import typed

        with typed(arguments):
            chosen(arguments or ["--help"]).run()
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

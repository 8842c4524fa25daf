"""A process that has imported everything and, for each line it reads, forks one that runs that command.

Starting the interpreter and importing JAX takes seconds, and the test that kills runs does so twenty times. JAX itself
has not begun here, so there are no threads that a fork could break.
"""

import json
import os
import sys

import ambs.cli
import ambs.commands.chosen
import ambs.runs.devices
import ambs.runs.dreamer


def main() -> None:
    assert len(os.listdir("/proc/self/task")) == 1
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            os.dup2(2, 1)
            os._exit(ambs.cli.main(json.loads(line)))
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()

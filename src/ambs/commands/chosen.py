"""The commands, and which of them a command line asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import tyro

from ambs.commands.bench import Bench
from ambs.commands.bounds import Bounds
from ambs.commands.check import Check
from ambs.commands.envs import Envs
from ambs.commands.eval import Eval
from ambs.commands.report import Report
from ambs.commands.tests import Tests
from ambs.commands.train import Train
from ambs.commands.verify import Verify
from ambs.commands.watch import Watch

Command = (
    Annotated[Train, tyro.conf.subcommand("train")]
    | Annotated[Eval, tyro.conf.subcommand("eval")]
    | Annotated[Report, tyro.conf.subcommand("report")]
    | Annotated[Bench, tyro.conf.subcommand("bench")]
    | Annotated[Envs, tyro.conf.subcommand("envs")]
    | Annotated[Watch, tyro.conf.subcommand("watch")]
    | Annotated[Check, tyro.conf.subcommand("check")]
    | Annotated[Bounds, tyro.conf.subcommand("bounds")]
    | Annotated[Tests, tyro.conf.subcommand("tests")]
    | Annotated[Verify, tyro.conf.subcommand("verify")]
)

_DESCRIPTION = (
    "Approximate Model-Based Shielding: train, evaluate, compare, look at environments, check formulas, bounds, tests."
)


def chosen(arguments: Sequence[str]) -> Train | Eval | Report | Bench | Envs | Watch | Check | Bounds | Tests | Verify:
    """The command with its options; after --help or a mistake a message, and SystemExit."""
    return tyro.cli(Command, prog="ambs", description=_DESCRIPTION, args=arguments)

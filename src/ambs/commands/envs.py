"""`ambs envs`: which labelled environments there are, what their atoms mean and what their formula asks for."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

import tyro
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from ambs.commands.output import console, print_json
from ambs.envs import CATALOGUE, EnvSpec
from ambs.envs.catalogue import find


@dataclass(frozen=True)
class Envs:
    """List the labelled environments: atoms, default formula, observation, actions, where the labels come from.

    With a name, everything about that one. Any of them is made by `ambs.make(NAME)` in Python.
    """

    name: tyro.conf.Positional[str | None] = None
    """The environment to show in full; all of them, in short, if not given."""

    json: Annotated[bool, tyro.conf.arg(name="json")] = False
    """Print a JSON list, one object an environment."""

    def run(self) -> None:
        specs = list(CATALOGUE.values()) if self.name is None else [find(self.name)]
        if self.json:
            print_json([_row(spec) for spec in specs])
        elif self.name is None:
            _show_all(specs)
        else:
            _show_one(specs[0])


def _row(spec: EnvSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "id": f"ambs:{spec.id}",
        "atoms": list(spec.atoms),
        "meanings": dict(spec.atoms),
        "formula": spec.formula,
        "observation": spec.observation,
        "actions": spec.actions,
        "labels_from": spec.labels_from,
        "time_limit": spec.time_limit,
    }


def _show_all(specs: list[EnvSpec]) -> None:
    out = console()
    for labels_from, grouped in groupby(specs, operator.attrgetter("labels_from")):
        family = list(grouped)
        shared, own = _shared(family)
        heading = Table.grid(padding=(0, 2))
        for key, value in {"labels from": labels_from, **shared}.items():
            heading.add_row(f"[dim]{key}[/dim]", escape(value))
        out.print(heading)
        table = Table(box=box.SIMPLE_HEAD, expand=True)
        table.add_column("environment", min_width=max(len(spec.name) for spec in specs))
        table.add_column("atoms", ratio=5)
        table.add_column("formula", ratio=6)
        for spec in family:
            notes = "".join(f"\n[dim]{key}: {escape(getattr(spec, key))}[/dim]" for key in own)
            atoms = escape(", ".join(spec.atoms))
            table.add_row(f"[bold]{escape(spec.name)}[/bold]", atoms + notes, escape(spec.formula))
        out.print(table)
    out.print("`ambs envs NAME` says what makes each atom true; `ambs watch NAME` shows it.", style="dim")


def _shared(family: list[EnvSpec]) -> tuple[dict[str, str], list[str]]:
    """What the family has in common, to be said once above its table; and what each has to say for itself."""
    shared, own = {}, []
    for key in ("observation", "actions"):
        values = {getattr(spec, key) for spec in family}
        if len(values) == 1:
            shared[key] = values.pop()
        else:
            own.append(key)
    return shared, own


def _show_one(spec: EnvSpec) -> None:
    out = console()
    out.print(f"[bold]{escape(spec.name)}[/bold]")
    _pairs(
        out,
        {
            "in Python": f'ambs.make("{spec.name}") or gymnasium.make("ambs:{spec.id}")',
            "formula": spec.formula,
            "observation": spec.observation,
            "actions": spec.actions,
            "labels from": spec.labels_from,
            "time limit": spec.time_limit,
        },
    )
    out.print("atoms")
    _pairs(out, dict(spec.atoms))


def _pairs(out: Console, pairs: dict[str, str]) -> None:
    grid = Table.grid(padding=(0, 2))
    for key, value in pairs.items():
        grid.add_row(f"[cyan]{escape(key)}[/cyan]", escape(value))
    out.print(Padding(grid, (0, 0, 1, 2)))

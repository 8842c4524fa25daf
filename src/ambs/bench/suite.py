"""A suite: games × agents × seeds × steps, read from YAML. Ours are in `suites`, and yours look the same.

    about: What it compares, in a sentence.
    steps: 40000                 # of every run, unless its game or its agent says otherwise
    seeds: [0, 1, 2]
    options: {workers: inline}   # of `ambs train`, for all runs
    games:
      conveyor: {option: [observation=image]}
      belt: {env: conveyor-long-belt, steps: 60000}
    agents:
      dreamer: {}
      sound: {agent: ambs, criterion: sound}

The options of a game come before those of all, and those of an agent before both.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ambs.bench.yaml_file import load
from ambs.commands.train_ambs import AmbsOptions
from ambs.commands.train_dreamer import DreamerOptions
from ambs.commands.train_lag import LagOptions
from ambs.commands.train_shield import GuardOptions
from ambs.commands.train_value import ValueOptions
from ambs.envs.catalogue import CATALOGUE
from ambs.envs.making import near
from ambs.errors import AmbsError

OURS = Path(__file__).parent / "suites"
AGENTS = ("dreamer", "ambs", "lag", "rainbow", "iqn")
_KEYS = ("about", "steps", "seeds", "options", "games", "agents", "smoke")
# Of `ambs train`; the others are said elsewhere in a suite, or are not for it.
_OPTIONS = frozenset(
    option.name.replace("_", "-")
    for group in (DreamerOptions, AmbsOptions, LagOptions, ValueOptions, GuardOptions)
    for option in dataclasses.fields(group)
) | {"formula", "test"}  # fmt: skip

Options = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A game or an agent of a suite."""

    name: str
    """As the suite calls it."""
    what: str
    """The environment, or the agent as `ambs train --agent` takes it."""
    steps: int | None = None
    options: Options = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """What is compared with what."""

    name: str
    about: str
    steps: int
    seeds: tuple[int, ...]
    games: tuple[Entry, ...]
    agents: tuple[Entry, ...]
    options: Options = field(default_factory=dict)
    smoke: bool = False
    """Whether runs are made as small as can be, and killed and resumed; see `ambs.bench.smoke`."""

    def only(self, names: Collection[str]) -> Suite:
        """With the games and agents of these names alone; all games if none is named, and likewise all agents."""
        known = [entry.name for entry in (*self.games, *self.agents)]
        for name in names:
            if name not in known:
                raise AmbsError(
                    f'the suite {self.name} has no game or agent "{name}"; it has the games '
                    f"{_listed(self.games)} and the agents {_listed(self.agents)}."
                )
        games = tuple(game for game in self.games if game.name in names) or self.games
        agents = tuple(agent for agent in self.agents if agent.name in names) or self.agents
        return dataclasses.replace(self, games=games, agents=agents)


def suites() -> dict[str, Path]:
    """Those that come with ambs."""
    return {path.stem: path for path in sorted(OURS.glob("*.yaml"), key=lambda path: path.stem)}


def read(name: str) -> Suite:
    """The suite of that name, or in that YAML file."""
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
    elif name in suites():
        path = suites()[name]
    else:
        raise AmbsError(
            f'there is no suite "{name}"; choose one of {", ".join(suites())}, or give a YAML file of your own '
            "(name.yaml)."
        )
    return _suite(load(path), path)


def _suite(given: Any, path: Path) -> Suite:
    values = _mapping(given, f"{path}", "a suite, with " + ", ".join(_KEYS))
    for key in values:
        if key not in _KEYS:
            raise AmbsError(f'{path}: a suite has no "{key}"; {near(str(key), _KEYS, otherwise=_known(_KEYS))}')
    for key in ("steps", "seeds", "games", "agents"):
        if key not in values:
            raise AmbsError(f'{path}: the suite lacks "{key}"; docs/bench.md says what it is.')
    if not isinstance(values.get("smoke", False), bool):
        raise AmbsError(f"{path}, smoke: it is {values['smoke']!r}, and has to be true or false.")
    return Suite(
        name=path.stem,
        about=str(values.get("about", "")),
        steps=_whole(values["steps"], f"{path}, steps"),
        seeds=_seeds(values["seeds"], f"{path}, seeds"),
        options=_options(_mapping(values.get("options") or {}, f"{path}, options"), f"{path}, options"),
        games=_entries(values["games"], f"{path}, games", "env"),
        agents=_entries(values["agents"], f"{path}, agents", "agent"),
        smoke=values.get("smoke", False),
    )


def _entries(given: Any, where: str, key: str) -> tuple[Entry, ...]:
    """Games, whose environment is under `env`, or agents, which are under `agent`; their names, where that is not."""
    found = []
    for name, value in _mapping(given, where, "names with their options").items():
        place = f"{where}.{name}"
        if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name):
            raise AmbsError(f"{place}: a name is made of letters, digits, dots, dashes and underscores.")
        options = dict(_mapping(value or {}, place))
        what, steps = options.pop(key, name), options.pop("steps", None)
        _require_known(what, key, place)
        steps = None if steps is None else _whole(steps, f"{place}.steps")
        found.append(Entry(name, what, steps, _options(options, place)))
    if not found:
        raise AmbsError(f"{where}: there has to be at least one.")
    return tuple(found)


def _require_known(what: Any, key: str, place: str) -> None:
    if key == "agent" and what not in AGENTS:
        raise AmbsError(f'{place}: there is no agent "{what}" for a suite; choose one of {", ".join(AGENTS)}.')
    # Any other environment is a Gymnasium id, and those have capitals, a version or a module.
    if key == "env" and (not isinstance(what, str) or (what not in CATALOGUE and not re.search(r"[A-Z:]|-v\d", what))):
        raise AmbsError(
            f'{place}: there is no environment "{what}"; {near(str(what), CATALOGUE, otherwise="see `ambs envs`.")}'
        )


def _options(given: Mapping[str, Any], where: str) -> Options:
    for name, value in given.items():
        if name not in _OPTIONS:
            hint = near(str(name), _OPTIONS, otherwise="`ambs train --help` lists them.")
            raise AmbsError(f'{where}: `ambs train` has no option "{name}" for a suite; {hint}')
        values = value if isinstance(value, list) else [value]
        if not values or not all(isinstance(each, str | int | float | bool) for each in values):
            raise AmbsError(f"{where}.{name}: it is {value!r}, and has to be a text, a number, true, false or a list.")
    return dict(given)


def _seeds(given: Any, where: str) -> tuple[int, ...]:
    seeds = given if isinstance(given, list) else [given]
    for seed in seeds:
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
            raise AmbsError(f"{where}: a seed is {seed!r}, and has to be a whole number from 0 to 2^32 - 1.")
    if not seeds or len(set(seeds)) < len(seeds):
        raise AmbsError(f"{where}: they are {given!r}, and there has to be at least one, and none twice.")
    return tuple(seeds)


def _whole(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise AmbsError(f"{where}: it is {value!r}, and has to be a whole number of at least 1.")
    return value


def _mapping(value: Any, where: str, what: str = "options with their values") -> Mapping[Any, Any]:
    if not isinstance(value, Mapping):
        said = "it is empty" if value is None else f"it is {value!r}"
        raise AmbsError(f"{where}: {said}, and has to be {what}.")
    return value


def _known(names: Collection[str]) -> str:
    return f"it has {', '.join(names)}."


def _listed(entries: tuple[Entry, ...]) -> str:
    return ", ".join(entry.name for entry in entries)

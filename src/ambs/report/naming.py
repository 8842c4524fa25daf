"""Which runs are seeds of the same thing, and what that is called.

A game is an environment with its options and its formula, whatever the size and colour of the pictures that an agent
has of it: those are the agent's, as other options are. Runs of one agent in one game are the same but for the seed when
no option that both have recorded differs. What a run leaves out since it is as it was before there was the option
counts as recorded; any other option that only a newer version knows does not part them, and the report says that it is
missing. Agents of a suite are called what the suite calls them. Elsewhere, where an agent is there in several ways, its
name says in what they differ.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ambs.report.reading import Run
from ambs.runs.as_before import left_out
from ambs.runs.options import flat

# As the paper's table has them; others follow by name.
PAPER_ORDER = ("dreamer", "ambs", "lag", "iqn", "rainbow")
# What does not decide what is learned, or is named elsewhere.
APART = frozenset(
    ("agent", "env", "env_options", "formula", "seed", "steps", "workers", "devices", "log_every", "checkpoint_every")
) | {"tensorboard", "progress", "run", "json"}
# Options of Atari games that change nothing but the picture; Rainbow and IQN have another one than the world models.
_PICTURE = ("grey", "size")
# A name is to be read at a glance: more differences than these are in the table of options.
_MOST_DIFFERENCES = 2

Key = tuple[str, str]


def named(runs: Sequence[Run]) -> dict[Key, list[Run]]:
    """The runs by names of game and agent, in the order in which they are shown; seeds ascend."""
    games = _games(runs)
    ways: dict[Key, list[list[Run]]] = {}
    for run, game in zip(runs, games, strict=True):
        of_agent = ways.setdefault((game, run.agent), [])
        same = next((way for way in of_agent if all(_agree(run, other) for other in way)), None)
        if same is None:
            of_agent.append([run])
        else:
            same.append(run)
    groups: dict[Key, list[Run]] = {}
    for game, agent in sorted(ways, key=lambda key: (key[0], rank(key[1]))):
        names = _names(agent, game, ways)
        for name, way in sorted(zip(names, ways[game, agent], strict=True), key=lambda pair: pair[0]):
            groups[game, name] = sorted(way, key=lambda run: run.seed)
    return groups


def options(run: Run) -> dict[str, Any]:
    """By dotted name, of those that can part one way to train an agent from another."""
    if run.config is None:
        return {}
    found = flat(run.config) | left_out(run.agent, run.config)
    picture = {f"env_options.{name}": env_options(run).get(name) for name in _PICTURE}
    return {name: value for name, value in found.items() if name.split(".")[0] not in APART} | picture


def env_options(run: Run) -> dict[str, Any]:
    """What the environment was made with, by the run's configuration, or else by its command."""
    if run.config is not None:
        return dict(run.config.get("env_options") or {})
    return dict(_pair(word) for word in _words(run).get("option", []))


def rank(agent: str) -> tuple[int, str]:
    return (PAPER_ORDER.index(agent) if agent in PAPER_ORDER else len(PAPER_ORDER), agent)


def _games(runs: Sequence[Run]) -> list[str]:
    """Of each run: the environment, and its options and formula where they are not the same in all its runs."""
    made = [(run.env, *_made_with(run)) for run in runs]
    several = {env for env, *_ in made if len({one for one in made if one[0] == env}) > 1}
    return [
        env if env not in several else f"{env} ({'; '.join(part for part in how if part) or 'as it comes'})"
        for env, *how in made
    ]


def _made_with(run: Run) -> tuple[str, str]:
    """The options of the environment and the formula, as texts to compare and to read."""
    given = {name: value for name, value in env_options(run).items() if name not in _PICTURE}
    formula = " ".join(_words(run).get("formula", [])) if run.config is None else run.config.get("formula") or ""
    return ", ".join(f"{name} {_said(given[name])}" for name in sorted(given)), str(formula)


def _pair(word: str) -> tuple[str, Any]:
    name, _, value = word.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _words(run: Run) -> dict[str, list[str]]:
    """The options of the command that a run was started with, all that were given for each."""
    try:
        words = shlex.split(run.command or "")
    except ValueError:
        words = (run.command or "").split()
    found: dict[str, list[str]] = {}
    name = None
    for word in words:
        if word.startswith("--"):
            name, equals, value = word[2:].partition("=")
            name = name.replace("-", "_")
            found.setdefault(name, []).extend([value] if equals else [])
        elif name is not None:
            found[name].append(word)
    return found


def _agree(mine: Run, theirs: Run) -> bool:
    # A folder has all options in its configuration; its command may have written some out that others left to defaults.
    by_commands = all(run.is_kept and run.command is not None for run in (mine, theirs))
    if by_commands and _chosen(mine) != _chosen(theirs):
        return False
    if mine.config is None or theirs.config is None:
        return by_commands
    a, b = options(mine), options(theirs)
    # A group that is null in one, and in the other has options, is not the same.
    if a.keys() & _groups(b) or b.keys() & _groups(a):
        return False
    return all(a[name] == b[name] for name in a.keys() & b.keys())


def _groups(named: Mapping[str, Any]) -> set[str]:
    """`shield` of `shield.traces`."""
    return {name[:at] for name in named for at, letter in enumerate(name) if letter == "."}


def _chosen(run: Run) -> dict[str, list[str]]:
    apart = APART | {"option"}
    return {name: values for name, values in _words(run).items() if name not in apart}


def _names(agent: str, game: str, ways: Mapping[Key, list[list[Run]]]) -> list[str]:
    """A name for each of the agent's ways in the game: the agent's where there is one way in every game."""
    mine = ways[game, agent]
    by_suite = _called(ways)
    if by_suite is not None:
        return [by_suite[id(way)] for way in mine]
    several = [each for (_, other), each in ways.items() if other == agent and len(each) > 1]
    if not several:
        return [agent]
    by_options = [_by_options(way[0], several) for way in mine]
    if None not in by_options and len(set(by_options)) == len(mine):
        return [f"{agent} ({name})" for name in by_options]
    if len(mine) == 1:
        return [agent]
    called = [way[0].name.removeprefix(f"{way[0].env}-") for way in mine]
    if len(set(called)) == len(mine):
        return [f"{agent} ({name})" for name in called]
    return [f"{agent} (#{number})" for number in range(1, 1 + len(mine))]


def _called(ways: Mapping[Key, list[list[Run]]]) -> dict[int, str] | None:
    """What a suite calls each way, by its identity; None unless all runs are of suites, which agree on names and use
    none twice."""
    called: dict[int, str] = {}
    for way in (way for each in ways.values() for way in each):
        first = way[0].called
        if first is None or any(run.called != first for run in way):
            return None
        called[id(way)] = first
    for game in {game for game, _ in ways}:
        there = [called[id(way)] for (other, _), each in ways.items() if other == game for way in each]
        if len(set(there)) < len(there):
            return None
    return called


def _by_options(run: Run, several: Sequence[list[list[Run]]]) -> str | None:
    """Its values of all options in which the ways differ in some game; None if they are too many, or not known."""
    different = sorted(set().union(*(_different([way[0] for way in ways]) for ways in several)))
    mine = options(run)
    if not different or len(different) > _MOST_DIFFERENCES or not all(name in mine for name in different):
        return None
    # A criterion is known by its value; other values say nothing without their option.
    said = [(name.rpartition(".")[2], _said(mine[name])) for name in different]
    return ", ".join(value if name == "criterion" else f"{name} {value}" for name, value in said)


def _different(runs: Sequence[Run]) -> set[str]:
    """Names of the options that are not the same in all of them; those that one has not are different, too."""
    each = [options(run) for run in runs]
    return {
        name for one in each for name in one if any(name not in other or other[name] != one[name] for other in each)
    }


def _said(value: Any) -> str:
    if value is None:
        return "not given"
    return value if isinstance(value, str) else json.dumps(value)

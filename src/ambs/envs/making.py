"""`gymnasium.make`, with what it complains of in one sentence: no such option, no such module."""

from __future__ import annotations

import difflib
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec, load_env_creator

from ambs.errors import AmbsError

# What a constructor raises at a value that it cannot use. Anything else says nothing about the options.
_REFUSALS = (TypeError, ValueError, KeyError, AssertionError)


def made(name: str, source: str | EnvSpec, options: Mapping[str, Any], **settings: Any) -> gymnasium.Env[Any, Any]:
    """The environment that `source` stands for in Gymnasium.

    An id that is not registered is left Gymnasium's error: who called knows which names there are.

    Args:
        name: What the user calls it.
        source: Its id, or its registration.
        options: What the user wants of it.
        settings: What we want of `gymnasium.make`.
    """
    try:
        return gymnasium.make(source, **settings, **options)
    except AmbsError:
        raise
    except ModuleNotFoundError as error:
        # Gymnasium's own text around it is two sentences more.
        raise AmbsError(
            f'"{name}" cannot be made: {_line(error.__cause__ or error)}; install it, or put its folder on PYTHONPATH.'
        ) from error
    except gymnasium.error.Error as error:
        if name.rpartition(":")[2] not in gymnasium.registry:
            raise
        raise AmbsError(f'"{name}" cannot be made: {_line(error)}.') from error
    except _REFUSALS as error:
        if not options:
            raise
        raise AmbsError(_refused(name, source, options, error)) from error


def near(name: str, others: Iterable[str], otherwise: str) -> str:
    """The end of a sentence: which names there are like this one, in whatever case."""
    by_lower = {other.lower(): other for other in others}
    found = [by_lower[other] for other in difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.6)]
    return f"did you mean {' or '.join(found)}?" if found else otherwise


def _refused(name: str, source: str | EnvSpec, options: Mapping[str, Any], error: Exception) -> str:
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", str(error)):
        takes = _parameters(source)
        return f'{name} takes no option "{unknown[1]}"; it takes {", ".join(takes) or "none"}.'
    # The cause is the environment's own words; Gymnasium adds where they came from.
    cause = error.__cause__ or error
    given = ", ".join(f"{key}={json.dumps(value, default=repr)}" for key, value in options.items())
    return f"{name} cannot be made with {given}: {type(cause).__name__}: {_line(cause)}."


def _parameters(source: str | EnvSpec) -> list[str]:
    spec = gymnasium.spec(source.rpartition(":")[2]) if isinstance(source, str) else source
    creator = spec.entry_point if callable(spec.entry_point) else load_env_creator(str(spec.entry_point))
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [key for key, parameter in inspect.signature(creator).parameters.items() if parameter.kind in named]


def _line(error: BaseException) -> str:
    """The first line of what it says, without a full stop."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")

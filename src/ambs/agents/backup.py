"""A backup policy of the user's own: where a way to be safe is known, such as braking, it need not be learned."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from ambs.agents.player import ActionCodec, Memory
from ambs.errors import AmbsError
from ambs.types import Decision


class Backup:
    """A function from one observation to one action, as the environment has them; asked where the shield takes over.

    Args:
        name: `module:function`; the module has to be importable.
        space: Of the actions.
    """

    def __init__(self, name: str, space: spaces.Space[Any]) -> None:
        self.name, self.space = name, space
        self._codec = ActionCodec(space)
        self._function = _found(name)

    def __call__(self, memory: Memory, decision: Decision, obs: Any) -> tuple[Memory, Decision]:
        """What is remembered and decided, with the function's actions where the shield took over."""
        rows = np.flatnonzero(np.asarray(decision.overridden))
        if not rows.size:
            return memory, decision
        actions = np.array(decision.action)
        for row in rows:
            seen = jax.tree.map(lambda each, row=row: each[row], obs)
            actions[row] = self._codec.encode(self._legal(self._asked(seen)))
        played = jnp.asarray(actions)
        return Memory(memory.state, played), decision._replace(action=played)

    def require(self, obs: Any) -> None:
        """That it gives an action for this observation; before anything is learned, and not at the first override."""
        self._legal(self._asked(obs))

    def _asked(self, obs: Any) -> Any:
        try:
            return self._function(obs)
        except Exception as error:
            raise AmbsError(f"the backup policy {self.name} failed with {error!r}; mend it.") from error

    def _legal(self, action: Any) -> Any:
        try:
            cast = np.asarray(action, self.space.dtype)
            # A choice that is rounded would be another one.
            same = not isinstance(self.space, spaces.Discrete) or bool(np.all(cast == np.asarray(action)))
            legal = self.space.contains(action) or (same and self.space.contains(cast))
        except (TypeError, ValueError, OverflowError):
            legal = False
        if not legal:
            raise AmbsError(
                f"the backup policy {self.name} returned {action!r}, which is no action of the environment: "
                f"{self.space}."
            )
        return action


def _found(name: str) -> Callable[[Any], Any]:
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise AmbsError(f'the backup policy is "{name}", and has to be module:function, e.g. my_module:brake.')
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise AmbsError(
            f'there is no backup policy "{name}": {error}; its module has to be installed or on PYTHONPATH.'
        ) from error
    if not callable(found):
        raise AmbsError(f'the backup policy "{name}" is {found!r}, and has to be a function of an observation.')
    return found

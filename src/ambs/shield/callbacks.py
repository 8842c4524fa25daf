"""NumPy functions called from inside compiled code, and their errors as they were raised.

JAX wraps what goes wrong in a callback into an error of its own that begins with its internals. The callback keeps what
it raised, and whoever started the compiled code raises that instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import jax

# The newest error alone, and not one on each model: equal models share compiled code, and with it one callback.
_newest: list[Exception] = []


def call_numpy(function: Callable[..., Any], shapes: Any, *arguments: Any) -> Any:
    """`function` of the arguments as NumPy arrays, with all vmapped axes in front."""
    with original_errors():
        return jax.pure_callback(_Remembering(function), shapes, *arguments, vmap_method="broadcast_all")


@contextmanager
def original_errors() -> Iterator[None]:
    """Turns JAX's error about a callback back into the one that was raised there."""
    try:
        yield
    except jax.errors.JaxRuntimeError as wrapped:
        error = _newest.pop() if _newest else None
        # One that JAX does not quote was left over by code that nobody watched.
        if error is None or type(error).__name__ not in str(wrapped) or str(error) not in str(wrapped):
            raise
        raise error from None


@dataclass(frozen=True)
class _Remembering:
    """Equal for equal functions, unlike a closure: JAX compiles a callback anew that it has not seen before."""

    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        try:
            return self.function(*arguments)
        except Exception as error:
            _newest[:] = [error]
            raise

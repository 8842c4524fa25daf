"""How many floating-point operations the matrix products of a JAX program take, loops counted as often as they run."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

import equinox as eqx
import jax
from jax.interpreters import partial_eval as pe

from ambs.agents import player, shielding
from ambs.behaviour import dreaming


def matmul_flops(function: Callable[..., Any], *arguments: Any) -> float:
    """Two a multiplication and addition, in all `dot_general`s that `function(*arguments)` does."""
    closed, _, _ = eqx.filter_make_jaxpr(function)(*arguments)
    # What nobody uses is not computed: the compiler drops it, within loops too.
    used, _ = pe.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return _count(used)


@contextlib.contextmanager
def written_out() -> Iterator[None]:
    """Within, products with one-hots count as the matrix products that sums of rows take the place of."""
    quick = dreaming.without_gradient
    for module in (dreaming, player, shielding):
        module.without_gradient = lambda state: state  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module in (dreaming, player, shielding):
            module.without_gradient = quick  # type: ignore[attr-defined]


def _count(jaxpr: Any) -> float:
    total = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            inner = math.prod(equation.invars[0].aval.shape[axis] for axis in contracted)
            total += 2 * inner * math.prod(equation.outvars[0].aval.shape)
        elif equation.primitive.name in ("while", "cond"):
            raise NotImplementedError(f"{equation.primitive.name} has no fixed number of operations")
        else:
            times = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
            total += times * sum(_count(inner) for inner in _inside(equation.params))
    return total


def _inside(params: dict[str, Any]) -> list[Any]:
    """The programs within an operation: of loops, compiled functions and rules of differentiation."""
    programs = [value for value in params.values() if hasattr(value, "eqns") or hasattr(value, "jaxpr")]
    return [program.jaxpr if hasattr(program, "jaxpr") else program for program in programs]


def matmul_rate(side: int = 1536, rounds: int = 3) -> float:
    """Operations a CPU second of a square float32 product: what this machine can do, at this moment."""
    product = jax.jit(lambda a, b: a @ b)
    a = jax.random.normal(jax.random.key(0), (side, side))
    product(a, a).block_until_ready()
    best = math.inf
    for _ in range(rounds):
        start = time.process_time()
        product(a, a).block_until_ready()
        best = min(best, time.process_time() - start)
    return 2 * side**3 / best

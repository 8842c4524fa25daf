"""How many floating-point operations the matrix products and convolutions of a JAX program take.

Loops are counted as often as they run. Everything else (activations, norms, random numbers) is not counted: it is small
beside the products in networks of any size that is worth planning for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import equinox as eqx
from jax.interpreters import partial_eval as pe


def matmul_flops(function: Callable[..., Any], *arguments: Any) -> float:
    """Two a multiplication and addition, in all products that `function(*arguments)` does.

    Arguments may be `jax.ShapeDtypeStruct`s; nothing is computed.
    """
    closed, _, _ = eqx.filter_make_jaxpr(function)(*arguments)
    # What nobody uses is not computed: the compiler drops it, within loops too.
    used, _ = pe.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return _count(used)


def _count(jaxpr: Any) -> float:
    total = 0.0
    for equation in jaxpr.eqns:
        if equation.primitive.name == "dot_general":
            (contracted, _), _ = equation.params["dimension_numbers"]
            inner = math.prod(equation.invars[0].aval.shape[axis] for axis in contracted)
            total += 2 * inner * math.prod(equation.outvars[0].aval.shape)
        elif equation.primitive.name == "conv_general_dilated":
            total += _convolution(equation)
        elif equation.primitive.name in ("while", "cond"):
            raise ValueError(f"{equation.primitive.name} has no fixed number of operations")
        else:
            times = equation.params.get("length", 1) if equation.primitive.name == "scan" else 1
            total += times * sum(_count(inner) for inner in _inside(equation.params))
    return total


def _convolution(equation: Any) -> float:
    """Every output is a sum over the kernel, or the share of it that meets no zeros put between pixels: a gradient for
    the input has those, and takes as much as the convolution itself."""
    kernel, out = equation.invars[1].aval.shape, equation.outvars[0].aval.shape
    features = kernel[equation.params["dimension_numbers"].rhs_spec[0]]
    return 2 * math.prod(out) * math.prod(kernel) / features / math.prod(equation.params["lhs_dilation"])


def _inside(params: dict[str, Any]) -> list[Any]:
    """The programs within an operation: of loops, compiled functions and rules of differentiation."""
    programs = [value for value in params.values() if hasattr(value, "eqns") or hasattr(value, "jaxpr")]
    return [program.jaxpr if hasattr(program, "jaxpr") else program for program in programs]
